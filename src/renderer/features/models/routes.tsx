import { IconBrain } from '@tabler/icons-react';
import { lazy } from 'react';
import type { Feature } from '../../ui/route.ts';

export const feature: Feature = {
  label: 'Models',
  words: 'add gguf server adapter merge weights',
  order: 1,
  href: '/models',
  icon: IconBrain,
  pages: [
    { path: '/models', component: lazy(() => import('./models-page.tsx')) },
    { path: '/models/:modelId', component: lazy(() => import('./models-page.tsx')) },
  ],
};
