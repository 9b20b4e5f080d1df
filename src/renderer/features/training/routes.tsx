import { IconSchool } from '@tabler/icons-react';
import { lazy } from 'react';
import type { Feature } from '../../ui/route.ts';

export const feature: Feature = {
  label: 'Training',
  words: 'train adapter fine-tune',
  order: 6,
  href: '/training',
  icon: IconSchool,
  pages: [
    { path: '/training', component: lazy(() => import('./training-page.tsx')) },
    { path: '/training/new', component: lazy(() => import('./new-training-page.tsx')) },
  ],
};
