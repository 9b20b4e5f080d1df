import { Link } from 'wouter';
import type { SystemStatus } from '#shared/schema/system.ts';
import { formatBytes, formatDevice, formatInteger } from '../../ui/format.ts';
import { Facts, Mono, Term } from '../../ui/text.tsx';
import styles from './home.module.css';

const inferenceWords: Record<SystemStatus['inference']['state'], string> = {
  stopped: 'starts with the first model',
  starting: 'starting',
  ready: 'ready',
  restarting: 'restarting after a crash',
  failed: 'failed: see Models',
};

/** What is stored, and what it runs on. */
export function Machine({ status }: { status: SystemStatus }) {
  const { counts, inference } = status;
  return (
    <div>
      <section className={styles.section} aria-label="Stored">
        <h2>
          Stored <Link href="/settings#data">Data folder</Link>
        </h2>
        <Facts
          facts={[
            [
              <Term key="episodes" name="episode">
                Episodes
              </Term>,
              formatInteger(counts.episodes),
            ],
            ['Steps', formatInteger(counts.steps)],
            [
              <Term key="branches" name="branch">
                Branches
              </Term>,
              formatInteger(counts.branches),
            ],
            [
              <Term key="reflections" name="reflection">
                Reflections
              </Term>,
              `${formatInteger(counts.reflections)}${counts.reflectionsToReview > 0 ? `, ${formatInteger(counts.reflectionsToReview)} to review` : ''}`,
            ],
            ['Data sets', formatInteger(counts.datasets)],
            ['On disk', `${formatBytes(status.storeBytes)}, ${formatBytes(status.freeDiskBytes)} free`],
            ['Folder', <Mono key="folder">{status.dataFolder}</Mono>],
          ]}
        />
      </section>
      <section className={styles.section} aria-label="Device">
        <h2>
          Device <Link href="/models">Models</Link>
        </h2>
        <Facts
          facts={[
            ['Inference', `${formatDevice(inference.device)}, ${inferenceWords[inference.state]}`],
            ['Cores', formatInteger(status.cores)],
            [
              'Memory',
              `${formatBytes(status.freeMemoryBytes)} free of ${formatBytes(status.totalMemoryBytes)}`,
            ],
            [
              'Loaded',
              inference.loaded.length === 0
                ? 'no model'
                : inference.loaded
                    .map(
                      ({ name, threads, sequences }) =>
                        `${name} (${String(threads)} ${threads === 1 ? 'thread' : 'threads'}, ${String(sequences)} ${sequences === 1 ? 'sequence' : 'sequences'})`,
                    )
                    .join(', '),
            ],
          ]}
        />
      </section>
    </div>
  );
}
