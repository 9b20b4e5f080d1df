import { Button } from '@mantine/core';

/** Frees the memory of a model that nobody holds. While `users` jobs or try-outs hold it, it is grey and says so. */
export function UnloadButton({
  users,
  loading,
  onUnload,
}: {
  users: number;
  loading: boolean;
  onUnload: () => void;
}) {
  const reason =
    users === 0
      ? 'Frees its memory; the next use loads it again.'
      : `In use by ${users === 1 ? 'one job or try-out' : `${String(users)} jobs or try-outs`}: it can be unloaded when they end.`;
  return (
    // The button keeps the pointer and the focus, so that its reason can be read; `disabled` would take both.
    <Button
      variant="default"
      title={reason}
      aria-disabled={users > 0}
      {...(users > 0 ? { 'data-disabled': true } : {})}
      loading={loading}
      onClick={() => {
        if (users === 0) onUnload();
      }}
    >
      Unload
    </Button>
  );
}
