import { Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { useRunning } from '../rpc/running.ts';
import { useSystemStatus } from '../rpc/status.ts';
import type { Feature } from '../ui/route.ts';
import { Kbd } from '../ui/text.tsx';
import { features } from './features.ts';
import { openPalette } from './palette-store.ts';
import styles from './navigation.module.css';

/** The pages in the order of work. A badge counts what runs (Runs, Training) or waits for a review (Trajectories). */
export function Navigation() {
  const narrow = useMediaQuery('(max-width: 1100px)', false, { getInitialValueInEffect: false });
  return (
    <nav className={styles.nav} aria-label="Pages">
      <div className={styles.brand}>
        <img src="/icon.svg" width={20} height={20} alt="" />
        <span className={styles.brandName}>Daydream</span>
      </div>
      {features.map((feature) => (
        <Item key={feature.href} feature={feature} narrow={narrow} />
      ))}
      <div className={styles.foot}>
        <Tooltip label="Pages, runs, episodes, commands" position="right">
          <button
            type="button"
            className={styles.search}
            onClick={openPalette}
            aria-label="Search and commands"
          >
            <IconSearch size={16} stroke={1.6} aria-hidden />
            <span className={styles.label}>Search</span>
            <span className={styles.keys}>
              <Kbd keys="Mod+K" />
            </span>
          </button>
        </Tooltip>
      </div>
    </nav>
  );
}

function Item({ feature, narrow }: { feature: Feature; narrow: boolean }) {
  const [path] = useLocation();
  const { data: status } = useSystemStatus();
  const current =
    feature.href === '/' ? path === '/' : path === feature.href || path.startsWith(`${feature.href}/`);
  const runs = useRunning();
  const running = runs.filter(
    ({ run }) => feature.href === (run.kind === 'train' ? '/training' : '/runs'),
  ).length;
  const waiting = feature.href === '/trajectories' ? (status?.counts.reflectionsToReview ?? 0) : 0;
  const count = running + waiting;
  const Shape = feature.icon;
  const link = (
    <Link
      href={feature.href}
      className={current ? `${styles.link} ${styles.current}` : styles.link}
      aria-current={current ? 'page' : undefined}
      aria-label={feature.label}
    >
      <Shape size={17} stroke={1.6} aria-hidden />
      <span className={styles.label}>{feature.label}</span>
      {count > 0 && (
        <span
          className={waiting > 0 ? `${styles.badge} ${styles.waits}` : styles.badge}
          title={waiting > 0 ? `${String(count)} reflections wait for a review` : `${String(count)} running`}
        >
          {count > 999 ? '999+' : count}
        </span>
      )}
    </Link>
  );
  return narrow ? (
    <Tooltip label={feature.label} position="right">
      {link}
    </Tooltip>
  ) : (
    link
  );
}
