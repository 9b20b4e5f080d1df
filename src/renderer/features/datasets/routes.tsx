import { IconDatabase } from '@tabler/icons-react';
import type { Feature } from '../../ui/route.ts';
import { DatasetPage } from './dataset-page.tsx';
import { DatasetsPage } from './datasets-page.tsx';

export const feature: Feature = {
  label: 'Datasets',
  words: 'data sets export rows',
  order: 8,
  href: '/datasets',
  icon: IconDatabase,
  pages: [
    { path: '/datasets', component: DatasetsPage },
    { path: '/datasets/:datasetId', component: DatasetPage },
  ],
};
