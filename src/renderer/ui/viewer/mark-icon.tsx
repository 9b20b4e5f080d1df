import {
  IconAlertTriangle,
  IconBolt,
  IconCircleCheck,
  IconFlag,
  IconGitBranch,
  IconQuestionMark,
  IconScissors,
} from '@tabler/icons-react';
import { markLabels } from './step-view.ts';
import type { StepMark } from './step-view.ts';
import styles from './viewer.module.css';

const icons = {
  invalid: IconAlertTriangle,
  unparsed: IconQuestionMark,
  error: IconBolt,
  branched: IconGitBranch,
  truncated: IconScissors,
  success: IconCircleCheck,
  terminated: IconFlag,
} satisfies Record<StepMark, typeof IconBolt>;

/** A shape for each mark, so that colour is never the only sign. */
export function MarkIcon({ mark }: { mark: StepMark }) {
  const Icon = icons[mark];
  return (
    <span
      className={styles.mark}
      data-mark={mark}
      title={markLabels[mark]}
      role="img"
      aria-label={markLabels[mark]}
    >
      <Icon size={14} stroke={1.8} aria-hidden />
    </span>
  );
}
