import { IconSettings } from '@tabler/icons-react';
import { lazy } from 'react';
import type { Feature } from '../../ui/route.ts';

export const feature: Feature = {
  label: 'Settings',
  words: 'preferences theme threads notifications',
  order: 9,
  href: '/settings',
  icon: IconSettings,
  places: [
    { href: '/settings#data', name: 'Data folder', words: 'backup disk' },
    { href: '/settings#offline', name: 'Offline proof', words: 'network connections' },
    { href: '/settings#licences', name: 'Licences', words: 'licenses third-party' },
  ],
  pages: [{ path: '/settings', component: lazy(() => import('./settings-page.tsx')) }],
};
