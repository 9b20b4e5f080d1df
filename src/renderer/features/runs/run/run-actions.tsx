import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconBan, IconCopy, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { canResume } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';
import { orpc, queryClient } from '../../../rpc/client.ts';
import { errorRecord } from '../../../rpc/errors.ts';
import { ConfirmButton } from '../../../ui/confirm-button.tsx';
import { useKeys } from '../../../ui/keys.ts';
import { isFinished } from '../../../ui/progress.ts';

/** Pause, resume, cancel, run again, remove: what the state allows. */
export function RunActions({ job, listHref }: { job: Job; listHref: string }) {
  const [, navigate] = useLocation();
  const { jobId } = job;
  const input = { jobId };
  const isTraining = job.kind === 'train';
  const changed = (next: Job) => {
    queryClient.setQueryData(orpc.jobs.get.queryKey({ input }), (old) =>
      old === undefined ? undefined : { ...old, job: next },
    );
    void queryClient.invalidateQueries({ queryKey: orpc.jobs.list.key() });
  };
  const failed = (error: unknown) => {
    notifications.show({ color: 'red', message: errorRecord(error).message });
  };
  const options = { onSuccess: changed, onError: failed };
  const pause = useMutation({ ...orpc.jobs.pause.mutationOptions(), ...options });
  const resume = useMutation({ ...orpc.jobs.resume.mutationOptions(), ...options });
  const cancel = useMutation({ ...orpc.jobs.cancel.mutationOptions(), ...options });
  const remove = useMutation({
    ...orpc.jobs.remove.mutationOptions(),
    onSuccess: () => {
      // A data set says of its run, and the queue shows of its reflections, whether it is still there.
      for (const queryKey of [orpc.jobs.list.key(), orpc.datasets.key(), orpc.episodes.reflections.key()])
        void queryClient.invalidateQueries({ queryKey });
      navigate(listHref);
    },
    onError: failed,
  });
  const canPause = job.state === 'running' || job.state === 'queued';
  useKeys([
    {
      key: 'p',
      label: 'Pause or resume',
      run: () => {
        if (canPause) pause.mutate(input);
        else if (job.state === 'paused' || job.state === 'pausing') resume.mutate(input);
      },
    },
  ]);
  return (
    <>
      <Button
        component={Link}
        href={`${isTraining ? '/training' : '/runs'}/new?from=${encodeURIComponent(jobId)}`}
        variant="default"
        leftSection={<IconCopy size={14} />}
      >
        Run again…
      </Button>
      {canPause && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={14} />}
          loading={pause.isPending}
          onClick={() => {
            pause.mutate(input);
          }}
        >
          Pause
        </Button>
      )}
      {canResume(job.state) && (
        <Button
          variant={job.state === 'paused' ? 'filled' : 'default'}
          leftSection={<IconPlayerPlay size={14} />}
          loading={resume.isPending}
          onClick={() => {
            resume.mutate(input);
          }}
        >
          Resume
        </Button>
      )}
      {!isFinished(job.state) && (
        <ConfirmButton
          question={
            isTraining
              ? 'The training ends within a few seconds, without an adapter or model, and cannot be resumed. To go on later, pause it instead.'
              : 'The run ends within a few seconds and cannot be resumed; to go on later, pause it instead. Everything finished is kept; episodes in progress are kept as abandoned and never trained on.'
          }
          confirm="Cancel the run"
          icon={<IconBan size={14} />}
          disabled={job.state === 'cancelling'}
          loading={cancel.isPending}
          onConfirm={() => {
            cancel.mutate(input);
          }}
        >
          Cancel
        </ConfirmButton>
      )}
      {isFinished(job.state) && (
        <ConfirmButton
          question={`The run leaves the list with its events and curves. ${isTraining ? 'The adapter or model that it wrote stays on disk.' : 'Data sets that it wrote stay on disk, and cannot be exported again. Its reflections leave the review queue.'}`}
          confirm="Remove the run"
          icon={<IconTrash size={14} />}
          loading={remove.isPending}
          onConfirm={() => {
            remove.mutate(input);
          }}
        >
          Remove
        </ConfirmButton>
      )}
    </>
  );
}
