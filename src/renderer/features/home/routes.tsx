import { IconLayoutDashboard } from '@tabler/icons-react';
import { lazy } from 'react';
import type { Feature } from '../../ui/route.ts';

export const feature: Feature = {
  label: 'Home',
  words: 'start overview machine stored',
  order: 0,
  href: '/',
  icon: IconLayoutDashboard,
  pages: [{ path: '/', component: lazy(() => import('./home-page.tsx')) }],
};
