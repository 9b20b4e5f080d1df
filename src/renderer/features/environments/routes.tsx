import { IconHome2 } from '@tabler/icons-react';
import type { Feature } from '../../ui/route.ts';
import { EnvironmentPage } from './environment-page.tsx';
import { EnvironmentsPage } from './environments-page.tsx';
import { PlayPage } from './play-page.tsx';

export const feature: Feature = {
  label: 'Environments',
  words: 'worlds tasks play alfworld household',
  order: 2,
  href: '/environments',
  icon: IconHome2,
  pages: [
    { path: '/environments', component: EnvironmentsPage },
    { path: '/environments/:environmentId', component: EnvironmentPage },
    { path: '/environments/:environmentId/play', component: PlayPage },
  ],
};
