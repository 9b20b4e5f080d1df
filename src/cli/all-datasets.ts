/** Every data set of the store, newest first, page by page: who finds what it wants asks for no more. */
import type { Client } from '#shared/contract/index.ts';
import type { Dataset } from '#shared/schema/dataset.ts';

const pageSize = 500;

export async function* allDatasets(client: Pick<Client, 'datasets'>): AsyncGenerator<Dataset> {
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Client['datasets']['list']>> = await client.datasets.list({
      limit: pageSize,
      cursor,
    });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
