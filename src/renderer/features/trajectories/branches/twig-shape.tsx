import type { TwigKind } from './group-branches.ts';
import styles from './branches.module.css';

/** One shape a kind, drawn around (x, y): disc, ring, triangle, crossed square. */
export function TwigShape({ kind, x, y, size = 4 }: { kind: TwigKind; x: number; y: number; size?: number }) {
  switch (kind) {
    case 'distinct':
      return <circle className={styles.distinct} cx={x} cy={y} r={size} />;
    case 'same':
      return <circle className={styles.same} cx={x} cy={y} r={size - 0.75} />;
    case 'invalid':
      return (
        <path
          className={styles.invalid}
          d={`M${String(x)} ${String(y - size)} L${String(x + size)} ${String(y + size * 0.8)} L${String(x - size)} ${String(y + size * 0.8)} Z`}
        />
      );
    case 'rejected':
      return (
        <path
          className={styles.rejected}
          d={`M${String(x - size)} ${String(y - size)} L${String(x + size)} ${String(y + size)} M${String(x - size)} ${String(y + size)} L${String(x + size)} ${String(y - size)}`}
        />
      );
  }
}
