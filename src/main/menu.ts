/** The application menu. Everything in it has a key, and everything that changes data lives in the page instead. */
import type { MenuItemConstructorOptions } from 'electron';

export interface MenuActions {
  navigate(path: string): void;
  openDataFolder(): void;
  openLink(address: string): void;
}

export const projectLinks = {
  earlyExperience: 'https://arxiv.org/abs/2510.08558',
  dreamGym: 'https://arxiv.org/abs/2511.03773',
};

export function menuTemplate(
  actions: MenuActions,
  { platform, developer }: { platform: NodeJS.Platform; developer: boolean },
): MenuItemConstructorOptions[] {
  const isMac = platform === 'darwin';
  const page = (label: string, path: string, accelerator?: string): MenuItemConstructorOptions => ({
    label,
    ...(accelerator === undefined ? {} : { accelerator }),
    click: () => {
      actions.navigate(path);
    },
  });
  const link = (label: string, address: string): MenuItemConstructorOptions => ({
    label,
    click: () => {
      actions.openLink(address);
    },
  });
  return [
    ...(isMac ? [{ role: 'appMenu' } as const] : []),
    {
      label: '&File',
      submenu: [
        page('New Run…', '/runs/new', 'CmdOrCtrl+N'),
        { type: 'separator' },
        {
          label: 'Open Data Folder',
          accelerator: 'CmdOrCtrl+Shift+D',
          click: () => {
            actions.openDataFolder();
          },
        },
        page('Settings', '/settings', 'CmdOrCtrl+,'),
        { type: 'separator' },
        { role: 'close' },
        ...(isMac ? [] : [{ role: 'quit' } as const]),
      ],
    },
    { role: 'editMenu' },
    {
      label: '&View',
      submenu: [
        page('Home', '/', 'CmdOrCtrl+1'),
        page('Runs', '/runs', 'CmdOrCtrl+2'),
        page('Trajectories', '/trajectories', 'CmdOrCtrl+3'),
        { type: 'separator' },
        { role: 'reload' },
        ...(developer ? [{ role: 'toggleDevTools' } as const] : []),
        { type: 'separator' },
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
    {
      role: 'help',
      submenu: [
        link('Early Experience (paper)', projectLinks.earlyExperience),
        link('DreamGym (paper)', projectLinks.dreamGym),
      ],
    },
  ];
}
