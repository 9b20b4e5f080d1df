import { IconSettings } from '@tabler/icons-react';
import { lazy } from 'react';
import type { Feature } from '../../ui/route.ts';

export const feature: Feature = {
  label: 'Settings',
  order: 9,
  href: '/settings',
  icon: IconSettings,
  pages: [{ path: '/settings', component: lazy(() => import('./settings-page.tsx')) }],
};
