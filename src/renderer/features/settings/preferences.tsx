import { NumberInput, SegmentedControl, Switch, TagsInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { settingsSchema } from '#shared/schema/system.ts';
import type { Settings } from '#shared/schema/system.ts';
import { orpc, queryClient } from '../../rpc/client.ts';
import { errorRecord } from '../../rpc/errors.ts';
import styles from './settings.module.css';

/** What is shown is what the host has: a refused change springs back and says why. */
export function Preferences({ settings }: { settings: Settings }) {
  const key = orpc.system.settings.get.queryKey();
  const change = useMutation({
    ...orpc.system.settings.set.mutationOptions(),
    onMutate: (patch) => {
      const before = queryClient.getQueryData(key);
      if (before !== undefined) {
        queryClient.setQueryData(key, {
          theme: patch.theme ?? before.theme,
          modelFolders: patch.modelFolders ?? before.modelFolders,
          threads: patch.threads ?? before.threads,
          notifications: patch.notifications ?? before.notifications,
        });
      }
      return before;
    },
    onSuccess: (saved) => {
      queryClient.setQueryData(key, saved);
      void queryClient.invalidateQueries({ queryKey: orpc.models.list.key() });
    },
    onError: (error, _patch, before) => {
      if (before !== undefined) queryClient.setQueryData(key, before);
      notifications.show({ color: 'red', message: errorRecord(error).message });
    },
  });
  return (
    <>
      <section className={styles.section} aria-label="Appearance">
        <h2>Appearance</h2>
        <div className={styles.row}>
          <span id="theme-label">Theme</span>
          <div>
            <SegmentedControl
              aria-labelledby="theme-label"
              data={settingsSchema.shape.theme.unwrap().options.map((value) => ({ value, label: value }))}
              value={settings.theme}
              onChange={(value) => {
                change.mutate({ theme: settingsSchema.shape.theme.parse(value) });
              }}
            />
            <p className={styles.help}>“system” follows this computer between light and dark.</p>
          </div>
        </div>
        <div className={styles.row}>
          <label htmlFor="notifications">Notifications</label>
          <div>
            <Switch
              id="notifications"
              mt={5}
              checked={settings.notifications}
              onChange={(event) => {
                change.mutate({ notifications: event.currentTarget.checked });
              }}
            />
            <p className={styles.help}>
              When a run that took longer than a minute ends. Shown by the desktop window.
            </p>
          </div>
        </div>
      </section>
      <section className={styles.section} aria-label="Models and devices">
        <h2>Models and devices</h2>
        <div className={styles.row}>
          <label htmlFor="folders">Model folders</label>
          <div>
            <TagsInput
              id="folders"
              placeholder={settings.modelFolders.length === 0 ? 'Path of a folder, then Enter' : ''}
              value={settings.modelFolders}
              splitChars={['\n']}
              onChange={(value) => {
                change.mutate({ modelFolders: value });
              }}
            />
            <p className={styles.help}>
              Every GGUF file below them appears on the Models page. Files are read, never moved.
            </p>
          </div>
        </div>
        <div className={styles.row}>
          <label htmlFor="threads">Threads</label>
          <div>
            <NumberInput
              id="threads"
              w={120}
              min={0}
              max={512}
              allowDecimal={false}
              value={settings.threads}
              onBlur={(event) => {
                const value = Number(event.currentTarget.value);
                if (Number.isInteger(value) && value !== settings.threads) change.mutate({ threads: value });
              }}
            />
            <p className={styles.help}>
              For inference. 0 measures once per machine and model and takes the fastest; too many threads
              make a small machine many times slower.
            </p>
          </div>
        </div>
      </section>
    </>
  );
}
