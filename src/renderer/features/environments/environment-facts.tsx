import type { EnvironmentDescription } from '#shared/schema/environment.ts';
import { MonoText } from '../../ui/viewer/mono-text.tsx';
import { SplitSizes } from './environments-page.tsx';
import styles from './environments.module.css';

export function EnvironmentFacts({ environment }: { environment: EnvironmentDescription }) {
  const facts: [string, string][] = [
    ['Id', environment.id],
    ['Benchmark', environment.standsBeside],
    ['Version', environment.version],
    ['Data checksum', environment.dataChecksum],
    ['Licence', environment.licence],
    ['Actions', environment.actionMode],
    ['Step limit', `${String(environment.maxSteps)} steps`],
    ['Expert', environment.expert],
    ['Snapshot', environment.snapshot === 'native' ? 'exact copy of the state' : 'verified replay'],
    [
      'Deterministic',
      environment.deterministic ? 'yes: the same task and seed give the same observations' : 'no',
    ],
    ['Task types', environment.taskTypes.join(', ')],
  ];
  if (environment.folder !== null) facts.push(['Folder', environment.folder]);
  const total = environment.splits.reduce((sum, split) => sum + split.tasks, 0);
  return (
    <div className={styles.about}>
      <p className={styles.summary}>{environment.summary}</p>
      <SplitSizes environment={environment} total={total} />
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <section>
        <h2 className={styles.h2}>What the agent is told about actions</h2>
        <MonoText text={environment.actionGuide} empty="nothing" />
      </section>
    </div>
  );
}
