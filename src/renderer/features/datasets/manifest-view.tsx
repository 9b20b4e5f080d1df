import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Dataset, DatasetPart } from '#shared/schema/dataset.ts';
import { formatBytes, formatInteger } from '../../ui/format.ts';
import styles from './datasets.module.css';

export const partLabels: Record<DatasetPart, { label: string; what: string }> = {
  expert_sft: { label: 'Expert', what: 'state → expert action (imitation)' },
  iwm_sft: { label: 'World model', what: 'state + action → next state (IWM)' },
  reflection_sft: { label: 'Reflection', what: 'state → reasoning + expert action (SR)' },
};

/** Everything that a reader of a result needs to trust or repeat this data set; nothing is summed up away. */
export function ManifestView({ dataset }: { dataset: Dataset }) {
  const { manifest } = dataset;
  const { branches } = manifest;
  return (
    <div className={styles.manifest}>
      <Section title="Files">
        <table className={styles.table}>
          <thead>
            <tr>
              <th>Part</th>
              <th>File</th>
              <th className={styles.number}>Rows</th>
              <th className={styles.number}>Size</th>
              <th>SHA-256</th>
            </tr>
          </thead>
          <tbody>
            {manifest.files.map((file) => (
              <tr key={file.file}>
                <td title={partLabels[file.part].what}>{partLabels[file.part].label}</td>
                <td className={styles.mono}>{file.file}</td>
                <td className={styles.number}>{formatInteger(file.rows)}</td>
                <td className={styles.number}>{formatBytes(file.bytes)}</td>
                <td className={styles.mono} title={file.sha256}>{`${file.sha256.slice(0, 16)}…`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      <Section title="From states to rows">
        <Counts
          counts={[
            ['Tasks', manifest.tasks],
            ['Demonstrations', manifest.demonstrations],
            ['Expert states', manifest.states],
            ['Branches', branches.executed],
            ...optional('The expert’s own action, once more', branches.expert),
            ...optional('Alternatives for the world model', branches.iwm),
            ...optional('Alternatives for self-reflection', branches.sr),
            ['Accepted', branches.accepted],
            ['Rejected, start not proved', branches.rejected],
            ['Invalid, kept as signal', branches.invalid],
            ['Inadmissible', branches.inadmissible],
            ['Same outcome as the expert', branches.sameAsExpert],
            ['Refilled to keep K', branches.refilled],
            ...optional('Drawn without asking the policy', branches.unasked),
            ...optional('States whose prompt did not fit', branches.promptTooLong),
          ]}
        />
      </Section>
      <Section title="Filters">
        {manifest.filters.length === 0 ? (
          <p className={styles.dim}>No row was dropped by a filter.</p>
        ) : (
          <table className={styles.table}>
            <thead>
              <tr>
                <th>Part</th>
                <th>Filter</th>
                <th className={styles.number}>Left out, first reason</th>
                <th className={styles.number}>Flagged</th>
                <th>What it removes</th>
              </tr>
            </thead>
            <tbody>
              {manifest.filters.map((filter) => (
                <tr key={`${filter.part ?? ''}:${filter.filter}`}>
                  <td>{filter.part === null ? 'not stated' : partLabels[filter.part].label}</td>
                  <td>{filter.filter}</td>
                  <td className={styles.number}>{formatInteger(filter.dropped)}</td>
                  <td className={styles.number}>
                    {filter.flagged === null ? '' : formatInteger(filter.flagged)}
                  </td>
                  <td className={styles.wrap}>{filter.help}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Section>
      <Section title={`Deviations from the paper (profile ${manifest.profile})`}>
        {manifest.deviations.length === 0 ? (
          <p className={styles.dim}>None: every switch stands as in the paper.</p>
        ) : (
          <table className={styles.table}>
            <thead>
              <tr>
                <th>Label</th>
                <th>Reason</th>
              </tr>
            </thead>
            <tbody>
              {manifest.deviations.map((deviation) => (
                <tr key={deviation.label}>
                  <td className={styles.mono}>{deviation.label}</td>
                  <td className={styles.wrap}>{deviation.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Section>
      <Section title="Models and worlds">
        <table className={styles.table}>
          <thead>
            <tr>
              <th>Role</th>
              <th>What</th>
              <th>Checksum</th>
              <th>Licence</th>
            </tr>
          </thead>
          <tbody>
            {manifest.models.map((model) => (
              <tr key={model.role}>
                <td>{model.role}</td>
                <td className={styles.wrap}>{model.label}</td>
                <td className={styles.mono} title={model.sha256 ?? undefined}>
                  {model.sha256 === null ? 'no file' : `${model.sha256.slice(0, 16)}…`}
                </td>
                <td className={styles.dim}>the model’s own</td>
              </tr>
            ))}
            {manifest.environments.map((environment) => (
              <tr key={environment.id}>
                <td>environment</td>
                <td>{`${environment.id} ${environment.version}`}</td>
                <td
                  className={styles.mono}
                  title={environment.dataChecksum}
                >{`${environment.dataChecksum.slice(0, 16)}…`}</td>
                <td>{environment.licence}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      <Section title="Made by">
        <Counts
          counts={[
            ['Application', `daydream ${manifest.application.version}`],
            ['Seed', manifest.seed],
            ['Splits', manifest.splits.join(', ')],
            [
              'Run',
              manifest.jobId === null ? (
                'none'
              ) : (
                <Link key="run" href={`/runs/${manifest.jobId}`}>
                  {manifest.jobId}
                </Link>
              ),
            ],
            [
              'Configuration',
              <span
                key="sha"
                className={styles.mono}
                title={manifest.configSha256}
              >{`${manifest.configSha256.slice(0, 16)}…`}</span>,
            ],
          ]}
        />
        <details className={styles.config}>
          <summary>Configuration as JSON</summary>
          <pre className={styles.mono}>{JSON.stringify(manifest.config, null, 2)}</pre>
        </details>
      </Section>
    </div>
  );
}

/** Older manifests do not know it. */
function optional(name: string, value: number | null): [string, number][] {
  return value === null ? [] : [[name, value]];
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2 className={styles.sectionTitle}>{title}</h2>
      {children}
    </section>
  );
}

function Counts({ counts }: { counts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles.counts}>
      {counts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'number' ? formatInteger(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}
