import type { MenuItemConstructorOptions } from 'electron';
import { describe, expect, it } from 'vitest';
import { isAllowedLink } from '../../src/main/external-links.ts';
import { menuTemplate, projectLinks } from '../../src/main/menu.ts';

function build(platform: NodeJS.Platform, developer = false) {
  const did: string[] = [];
  const template = menuTemplate(
    {
      navigate: (path) => did.push(`navigate ${path}`),
      openDataFolder: () => did.push('open data folder'),
      openLink: (address) => did.push(`link ${address}`),
    },
    { platform, developer },
  );
  const items = template.flatMap((menu) => (Array.isArray(menu.submenu) ? menu.submenu : []));
  const press = (item: MenuItemConstructorOptions | undefined) =>
    item?.click?.({} as never, undefined, {} as never);
  return { did, template, items, press };
}

describe('the menu', () => {
  it('opens pages, the data folder and the papers', () => {
    const { did, items, press } = build('linux');
    for (const label of ['New Run…', 'Open Data Folder', 'Settings', 'Trajectories', 'DreamGym (paper)']) {
      press(items.find((item) => item.label === label));
    }
    expect(did).toEqual([
      'navigate /runs/new',
      'open data folder',
      'navigate /settings',
      'navigate /trajectories',
      `link ${projectLinks.dreamGym}`,
    ]);
  });

  it.each(['linux', 'win32', 'darwin'] as const)('gives no key twice on %s', (platform) => {
    const keys = build(platform, true).items.flatMap((item) => item.accelerator ?? []);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.length).toBeGreaterThan(4);
  });

  it('quits from File where there is no application menu', () => {
    const roles = (platform: NodeJS.Platform) => build(platform).items.map((item) => item.role);
    expect(roles('linux')).toContain('quit');
    expect(roles('darwin')).not.toContain('quit');
    expect(build('darwin').template[0]?.role).toBe('appMenu');
  });

  it('shows developer tools only where they are open', () => {
    expect(build('linux', true).items.map((item) => item.role)).toContain('toggleDevTools');
    expect(build('linux', false).items.map((item) => item.role)).not.toContain('toggleDevTools');
  });

  it('links only where the browser may be sent', () => {
    expect(Object.values(projectLinks).every(isAllowedLink)).toBe(true);
  });
});
