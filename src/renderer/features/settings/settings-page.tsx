import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { orpc } from '../../rpc/client.ts';
import { Page } from '../../ui/page.tsx';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import { DataFolder } from './data-folder.tsx';
import { Licences } from './licences.tsx';
import { OfflineProof } from './offline-proof.tsx';
import { Preferences } from './preferences.tsx';

/** Preferences apply at once; there is no save button to forget. */
export default function SettingsPage() {
  const settings = useQuery(orpc.system.settings.get.queryOptions());
  const loaded = settings.isSuccess;
  useEffect(() => {
    const { hash } = window.location;
    if (loaded && hash !== '') document.getElementById(hash.slice(1))?.scrollIntoView();
  }, [loaded]);
  return (
    <Page title="Settings" layout="form">
      {settings.isPending && <LoadingState rows={8} rowHeight={32} />}
      {settings.isError && (
        <ErrorState
          title="The settings could not be read"
          error={settings.error}
          onRetry={() => void settings.refetch()}
        />
      )}
      {settings.data !== undefined && <Preferences settings={settings.data} />}
      <OfflineProof />
      <DataFolder />
      <Licences />
    </Page>
  );
}
