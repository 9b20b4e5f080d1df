import { IconPlayerPlay } from '@tabler/icons-react';
import { lazy } from 'react';
import type { Feature } from '../../ui/route.ts';

export const feature: Feature = {
  label: 'Runs',
  words: 'jobs early experience rollout',
  order: 3,
  href: '/runs',
  icon: IconPlayerPlay,
  pages: [
    { path: '/runs', component: lazy(() => import('./runs-page.tsx')) },
    { path: '/runs/new', component: lazy(() => import('./new/new-run-page.tsx')) },
    // A training is a run too: the same page, under the entry of the navigation that it was opened from.
    { path: '/training/jobs/:jobId', component: lazy(() => import('./run/run-page.tsx')) },
    { path: '/runs/:jobId', component: lazy(() => import('./run/run-page.tsx')) },
  ],
};
