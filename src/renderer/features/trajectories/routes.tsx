import { IconRoute } from '@tabler/icons-react';
import type { Feature } from '../../ui/route.ts';
import { BranchPage } from './branches/branch-page.tsx';
import { EpisodePage } from './episode-page.tsx';
import { TrajectoriesPage } from './list-page.tsx';
import { ReviewPage } from './reviews/review-page.tsx';

export const feature: Feature = {
  label: 'Trajectories',
  words: 'episodes steps branches',
  order: 4,
  href: '/trajectories',
  icon: IconRoute,
  places: [{ href: '/trajectories/reviews', name: 'Reflections', words: 'reviews review queue keep drop' }],
  pages: [
    { path: '/trajectories', component: TrajectoriesPage },
    { path: '/trajectories/reviews', component: ReviewPage },
    { path: '/trajectories/:episodeId/branches', component: BranchPage },
    { path: '/trajectories/:episodeId', component: EpisodePage },
  ],
};
