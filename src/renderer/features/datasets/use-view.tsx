import { Button, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { Dataset } from '#shared/schema/dataset.ts';
import { formatInteger } from '../../ui/format.ts';
import { partLabels } from './part-labels.ts';
import { loadDatasetSnippet } from './snippet.ts';
import styles from './datasets.module.css';

/** One snippet a part, ready to paste. */
export function UseView({ dataset }: { dataset: Dataset }) {
  const withRows = dataset.manifest.files.filter(({ rows }) => rows > 0);
  return (
    <div className={styles.use}>
      <p className={styles.dim}>
        Every line is a conversation in OpenAI’s messages form; the loss belongs on the last message only. The
        folder’s card names a configuration for each part.
      </p>
      {dataset.manifest.files.some(({ rows }) => rows === 0) && (
        <p className={styles.dim}>
          A part without rows has no configuration:{' '}
          {dataset.manifest.files
            .filter(({ rows }) => rows === 0)
            .map(({ file }) => file)
            .join(', ')}
          .
        </p>
      )}
      {withRows.map((file) => {
        const snippet = loadDatasetSnippet(dataset.folder, file.part);
        return (
          <section key={file.part}>
            <h2 className={styles.sectionTitle}>
              {partLabels[file.part].label}
              <span
                className={styles.dim}
              >{` ${partLabels[file.part].what}, ${formatInteger(file.rows)} rows`}</span>
            </h2>
            <div className={styles.snippet}>
              <pre>{snippet}</pre>
              <CopyButton value={snippet}>
                {({ copied, copy }) => (
                  <Button
                    size="xs"
                    variant="default"
                    leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
                    onClick={copy}
                  >
                    {copied ? 'Copied' : 'Copy'}
                  </Button>
                )}
              </CopyButton>
            </div>
          </section>
        );
      })}
    </div>
  );
}
