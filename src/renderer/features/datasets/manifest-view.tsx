import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Dataset } from '#shared/schema/dataset.ts';
import { formatBytes, formatInteger } from '../../ui/format.ts';
import { withCode } from '../../ui/text.tsx';
import styles from './datasets.module.css';
import { LeftOut, Targets } from './manifest-tables.tsx';
import { partLabels } from './part-labels.ts';

/** Everything that a reader of a result needs to trust or repeat this data set; nothing is summed up away. */
export function ManifestView({ dataset, runRemoved }: { dataset: Dataset; runRemoved: boolean }) {
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
              <th
                className={styles.number}
                title="Expert states, accepted branches, or texts that were wanted"
              >
                Candidates
              </th>
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
                <td className={styles.number}>
                  {file.candidates === null ? '' : formatInteger(file.candidates)}
                </td>
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
      {manifest.proposals !== null && (
        <Section title="What the policy proposed">
          <Counts
            counts={[
              ['Drawn', manifest.proposals.drawn],
              ['Executed as alternatives', manifest.proposals.used],
              ['The expert’s own action', manifest.proposals.expert],
              ['Said before', manifest.proposals.duplicate],
              ['No action could be read', manifest.proposals.unreadable],
              ['Not admissible, dropped', manifest.proposals.inadmissible],
              ['Left out by the run', manifest.proposals.excluded],
              ['Not needed: K was reached', manifest.proposals.surplus],
            ]}
          />
        </Section>
      )}
      {manifest.refusedDemonstrations !== null && manifest.refusedDemonstrations.total > 0 && (
        <Section title={`Refused as demonstrations (${formatInteger(manifest.refusedDemonstrations.total)})`}>
          {manifest.refusedDemonstrations.file !== null && (
            <p className={styles.mono}>{manifest.refusedDemonstrations.file}</p>
          )}
          <table className={styles.table}>
            <thead>
              <tr>
                <th>Line</th>
                <th>Task</th>
                <th>Reason</th>
              </tr>
            </thead>
            <tbody>
              {manifest.refusedDemonstrations.listed.slice(0, 100).map((one) => (
                <tr key={`${String(one.line)} ${one.taskId ?? ''}`}>
                  <td className={styles.number}>{one.line === null ? '' : formatInteger(one.line)}</td>
                  <td className={styles.mono}>{one.taskId ?? ''}</td>
                  <td className={styles.wrap}>{one.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Section>
      )}
      <Section title="What was left out">
        <LeftOut filters={manifest.filters} />
      </Section>
      {manifest.iwmTargets !== null && manifest.iwmTargets.rows > 0 && (
        <Section title="What the world model would predict">
          <Targets targets={manifest.iwmTargets} />
        </Section>
      )}
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
                  <td className={styles.wrap}>{withCode(deviation.reason)}</td>
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
              ) : runRemoved ? (
                <span key="run" className={styles.mono}>{`${manifest.jobId} (removed)`}</span>
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
