import { Button } from '@mantine/core';
import { IconArrowBackUp, IconBulb, IconCircleCheck, IconClockStop, IconFlag } from '@tabler/icons-react';
import { trainingSplit } from '#shared/schema/environment.ts';
import type { PlayState } from '#shared/contract/environments.ts';
import { ErrorState, InfoNote } from '../../ui/states.tsx';
import { AdmissibleList } from '../../ui/viewer/admissible-list.tsx';
import { ThreePanes } from '../../ui/viewer/three-panes.tsx';
import { Minimap } from '../../ui/viewer/minimap.tsx';
import { MonoText } from '../../ui/viewer/mono-text.tsx';
import { StepList } from '../../ui/viewer/step-list.tsx';
import { Block, StepText } from '../../ui/viewer/step-text.tsx';
import { viewPlay } from '../../ui/viewer/step-view.ts';
import viewer from '../../ui/viewer/viewer.module.css';
import { ActionInput } from './action-input.tsx';
import styles from './environments.module.css';

/** A live game in the episode viewer's three panes. `selected` null is now; a number looks back without changing anything. */
export function PlayView({
  play,
  selected,
  busy,
  hintShown,
  problem,
  onSelect,
  onAct,
  onUndo,
  onHint,
  footer,
}: {
  play: PlayState;
  selected: number | null;
  busy: boolean;
  hintShown: boolean;
  /** A move, undo or recording that failed; the game itself stays. */
  problem: unknown;
  onSelect: (index: number | null) => void;
  onAct: (action: string) => void;
  onUndo: () => void;
  onHint: () => void;
  /** What the page offers once the game is over. */
  footer: React.ReactNode;
}) {
  const steps = viewPlay(play);
  const past = selected === null ? undefined : steps[selected];
  const now = play.moves.at(-1)?.observation ?? play.initial;
  return (
    <ThreePanes
      name="play"
      left={
        <>
          {steps.length > 0 && (
            <div className={viewer.paneHead}>
              <Minimap steps={steps} selected={selected} onSelect={onSelect} />
            </div>
          )}
          <StepList
            steps={steps}
            selected={selected}
            onSelect={onSelect}
            tail={{
              label: play.finished ? 'end' : 'now',
              selected: past === undefined,
              onSelect: () => {
                onSelect(null);
              },
            }}
          />
        </>
      }
      centre={
        <div className={styles.playCentre}>
          {problem !== null && problem !== undefined && <ErrorState error={problem} />}
          {play.task.split !== trainingSplit && (
            <InfoNote>
              This is a task of the split {play.task.split}: models are measured on it. The game can be
              recorded to look at, not as a demonstration; those come from tasks of the split {trainingSplit}.
            </InfoNote>
          )}
          {past === undefined ? (
            <>
              <Last play={play} />
              <Block label={play.moves.length === 0 ? 'Observation' : 'Now'}>
                <MonoText text={now.text} empty="The environment said nothing." />
              </Block>
              <Status play={play}>{footer}</Status>
            </>
          ) : (
            <>
              <StepText step={past} />
              <Button
                size="xs"
                variant="default"
                onClick={() => {
                  onSelect(null);
                }}
              >
                Back to now
              </Button>
            </>
          )}
        </div>
      }
      right={
        <>
          <div className={styles.playTools}>
            <div className={styles.playButtons}>
              <Button
                size="xs"
                variant="default"
                leftSection={<IconArrowBackUp size={14} />}
                disabled={busy || play.moves.length === 0}
                onClick={onUndo}
              >
                Undo
              </Button>
              <Button
                size="xs"
                variant="default"
                leftSection={<IconBulb size={14} />}
                disabled={busy || play.finished}
                onClick={onHint}
              >
                Hint
              </Button>
              <span
                className={styles.counter}
              >{`${String(play.moves.length)} of ${String(play.maxSteps)} steps`}</span>
            </div>
            {hintShown && !play.finished && (
              <div className={styles.hint} role="status">
                {play.hint === null ? (
                  'The expert does not know a way from here. Undo and try again.'
                ) : (
                  <>
                    <span className={styles.expertWord}>Expert</span>
                    <button
                      type="button"
                      data-hint
                      disabled={busy}
                      onClick={() => {
                        if (play.hint !== null) onAct(play.hint);
                      }}
                    >
                      {play.hint}
                    </button>
                  </>
                )}
              </div>
            )}
          </div>
          {past !== undefined ? (
            <div className={styles.act}>
              <p className={styles.actHelp}>What was possible at move {String(past.index)}</p>
              <div className={styles.actList}>
                <AdmissibleList actions={past.admissible} chosen={past.action} />
              </div>
            </div>
          ) : play.finished ? (
            <p className={styles.actHelp}>The game is over: nothing more can be done in it.</p>
          ) : (
            <ActionInput actions={now.admissible} onAct={onAct} />
          )}
        </>
      }
    />
  );
}

function Last({ play }: { play: PlayState }) {
  const move = play.moves.at(-1);
  if (move === undefined) return null;
  return (
    <p className={styles.lastMove} data-invalid={!move.valid || undefined}>
      <kbd>{move.action}</kbd>
      {!move.valid && ' was not a valid action; it cost a step.'}
    </p>
  );
}

function Status({ play, children }: { play: PlayState; children: React.ReactNode }) {
  if (!play.finished) return null;
  const last = play.moves.at(-1);
  const kind = last?.success === true ? 'success' : last?.truncated === true ? 'limit' : 'ended';
  const text = {
    success: `Goal reached in ${String(play.moves.length)} steps.`,
    limit: `The limit of ${String(play.maxSteps)} steps is reached. Undo some steps, or start again.`,
    ended: 'The task ended without success. Undo, or start again.',
  }[kind];
  const Icon = { success: IconCircleCheck, limit: IconClockStop, ended: IconFlag }[kind];
  return (
    <div className={styles.status} data-kind={kind} role="status">
      <Icon size={18} aria-hidden />
      <span>{text}</span>
      {children}
    </div>
  );
}
