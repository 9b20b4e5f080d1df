import { Button, Popover, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { orpc, queryClient } from '../../../rpc/client.ts';
import { errorRecord } from '../../../rpc/errors.ts';

export function SavePreset({
  yaml,
  disabled,
  onSaved,
}: {
  yaml: string;
  disabled: boolean;
  onSaved: (presetId: string) => void;
}) {
  const [open, setOpen] = useState(false);
  const [title, setTitle] = useState('');
  const save = useMutation({
    ...orpc.runs.savePreset.mutationOptions(),
    onSuccess: async (preset) => {
      await queryClient.invalidateQueries({ queryKey: orpc.runs.presets.key() });
      setOpen(false);
      onSaved(preset.presetId);
      notifications.show({ message: `Saved as “${preset.title}”` });
    },
    onError: (error) => notifications.show({ color: 'red', message: errorRecord(error).message }),
  });
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-end" width={280} trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          disabled={disabled}
          onClick={() => {
            setOpen((was) => !was);
          }}
        >
          Save as preset
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (title.trim() !== '') save.mutate({ title: title.trim(), yaml });
          }}
        >
          <TextInput
            label="Name of the preset"
            data-autofocus
            value={title}
            maxLength={120}
            onChange={(event) => {
              setTitle(event.currentTarget.value);
            }}
          />
          <Button type="submit" mt={8} fullWidth loading={save.isPending} disabled={title.trim() === ''}>
            Save
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
