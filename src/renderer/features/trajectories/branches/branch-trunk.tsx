import { useEffect, useRef } from 'react';
import { TwigShape } from './twig-shape.tsx';
import { twigKind, twigLabels } from './group-branches.ts';
import type { BranchState, TwigKind } from './group-branches.ts';
import styles from './branches.module.css';

const rowHeight = 46;
const trunkX = 18;
const twigGap = 11;
/** Of the drawing, pixels: what the pane shows at its first width. */
const trunkWidth = 262;

/** The expert's path as a trunk, one node a state, its twigs drawn to the right as they turned out. */
export function BranchTrunk({
  states,
  selected,
  onSelect,
}: {
  states: readonly BranchState[];
  selected: number;
  onSelect: (index: number) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView?.({ block: 'nearest' });
  }, [selected]);
  return (
    <div
      className={styles.trunk}
      role="listbox"
      aria-label="States of the expert’s path"
      tabIndex={0}
      ref={list}
    >
      {states.map((state, position) => (
        <div
          key={state.step.index}
          role="option"
          aria-selected={state.step.index === selected}
          aria-label={describeState(state)}
          className={styles.trunkRow}
          style={{ height: rowHeight }}
          onClick={() => {
            onSelect(state.step.index);
          }}
        >
          <TrunkNode state={state} first={position === 0} last={position === states.length - 1} />
          <span className={styles.trunkText}>
            <span className={styles.trunkAction} title={state.step.action}>
              {state.step.action}
            </span>
          </span>
          <span className={styles.trunkIndex}>{state.step.index}</span>
        </div>
      ))}
    </div>
  );
}

function TrunkNode({ state, first, last }: { state: BranchState; first: boolean; last: boolean }) {
  const all = state.alternatives.filter((branch) => branch.purpose !== 'expert');
  const nodeY = 15;
  const twigY = 33;
  // A small gap where the sampler's purpose changes (IWM, SR, rejected), a wider one between runs.
  const places: number[] = [];
  all.forEach((branch, index) => {
    const before = all[index - 1];
    const gap =
      before === undefined
        ? 0
        : before.jobId !== branch.jobId
          ? 14
          : before.purpose !== branch.purpose || before.status !== branch.status
            ? 7
            : 0;
    places.push(index === 0 ? trunkX + 14 : (places[index - 1] ?? 0) + twigGap + gap);
  });
  // Many runs: closer together rather than cut.
  const natural = places.at(-1) ?? trunkX;
  const squeeze = Math.min(1, (trunkWidth - trunkX) / (natural - trunkX));
  places.forEach((place, index) => {
    places[index] = trunkX + (place - trunkX) * squeeze;
  });
  const end = places.at(-1) ?? trunkX;
  const width = end + 10;
  return (
    <svg className={styles.trunkSvg} width={width} height={rowHeight} aria-hidden>
      <line
        className={styles.trunkLine}
        x1={trunkX}
        x2={trunkX}
        y1={first ? nodeY : 0}
        y2={last ? nodeY : rowHeight}
      />
      {all.length > 0 && (
        <path
          className={styles.twigLine}
          fill="none"
          d={`M${String(trunkX)} ${String(nodeY)} C ${String(trunkX)} ${String(twigY)}, ${String(trunkX + 6)} ${String(twigY)}, ${String(trunkX + 14)} ${String(twigY)} H ${String(end)}`}
        />
      )}
      {all.map((branch, index) => (
        <TwigShape key={branch.branchId} kind={twigKind(branch)} x={places[index] ?? end} y={twigY} />
      ))}
      <circle className={styles.expertNode} cx={trunkX} cy={nodeY} r={5} />
      {state.reflections.length > 0 && (
        <circle className={styles.reflectionRing} cx={trunkX} cy={nodeY} r={8} fill="none" />
      )}
    </svg>
  );
}

function describeState(state: BranchState): string {
  const kinds = state.alternatives.map(twigKind);
  const parts = (Object.keys(twigLabels) as TwigKind[])
    .map((kind) => [twigLabels[kind], kinds.filter((other) => other === kind).length] as const)
    .filter(([, count]) => count > 0)
    .map(([label, count]) => `${String(count)} × ${label.toLowerCase()}`);
  return `State ${String(state.step.index)}, expert: ${state.step.action}; ${parts.length === 0 ? 'no alternatives' : parts.join(', ')}; ${String(state.reflections.length)} reflections`;
}

export function TwigLegend() {
  return (
    <ul className={styles.legend}>
      <li>
        <svg width="12" height="12" aria-hidden>
          <circle className={styles.expertNode} cx={6} cy={6} r={4.5} />
        </svg>
        Expert
      </li>
      {(Object.keys(twigLabels) as TwigKind[]).map((kind) => (
        <li key={kind}>
          <svg width="12" height="12" aria-hidden>
            <TwigShape kind={kind} x={6} y={6} />
          </svg>
          {twigLabels[kind]}
        </li>
      ))}
    </ul>
  );
}
