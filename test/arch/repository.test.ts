import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryFiles, root } from '#test/arch/source.ts';

/** Written in pieces, so that this file does not contain what it looks for. */
const traces: [string, RegExp][] = [
  [
    'a package registry',
    new RegExp(
      [
        'registry\\.',
        'npmjs|',
        'npmm',
        'irror|',
        'pypi\\.',
        'org/simple|',
        'files\\.',
        'pythonhosted|',
        'unpkg\\.',
        'com|',
        'artifactory',
        '/api',
      ].join(''),
      'i',
    ),
  ],
  [
    'a home folder',
    new RegExp(['/ro', 'ot/|/ho', 'me/(?!you/)[a-z]+/|/Us', 'ers/[A-Za-z]+/|C:\\\\Us', 'ers\\\\'].join('')),
  ],
  [
    'a folder of the machine it was written on',
    new RegExp(['/wo', 'rk/(wt|main|shared)\\b|(?<![\\w.$}])/t', 'mp/'].join('')),
  ],
];

const textFile = /\.(ts|tsx|js|json|md|yml|yaml|html|css|sh|py|txt)$|^\.(ci\/run|npmrc|gitignore)$/;

function tracesIn(text: string): string[] {
  return traces.filter(([, pattern]) => pattern.test(text)).map(([name]) => name);
}

describe('the repository', () => {
  const files = repositoryFiles();

  it('names no registry and no machine in any file', () => {
    const found = files
      .filter((file) => textFile.test(file))
      .flatMap((file) => {
        const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
        return lines.flatMap((line, index) =>
          tracesIn(line).map((name) => `${file}:${index + 1} names ${name}: ${line.trim().slice(0, 100)}`),
        );
      });
    expect(found).toEqual([]);
  });

  it('would notice a registry or a path', () => {
    expect(tracesIn(`https://registry.${'npmjs'}.org/zod`)).toEqual(['a package registry']);
    expect(tracesIn(`/${'home'}/ada/daydream`)).toEqual(['a home folder']);
    expect(tracesIn(`cd /${'work'}/main`)).toEqual(['a folder of the machine it was written on']);
    expect(tracesIn(`"/${'tmp'}/x"`)).toEqual(['a folder of the machine it was written on']);
    expect(tracesIn('src/work/maintenance and tmp/ and ./tmp/x')).toEqual([]);
  });

  it('names files in kebab-case', () => {
    const conventional = /(^|\/)(README|AGENTS|CHANGELOG|LICENSE|NOTICE|Dockerfile)(\.md)?$/;
    const odd = files.filter((file) => {
      const name = path.posix.basename(file);
      return (
        /\.(ts|tsx|js|md|ya?ml|css)$/.test(name) &&
        !conventional.test(file) &&
        !/^\.?[a-z0-9]+([.-][a-z0-9]+)*$/.test(name)
      );
    });
    expect(odd).toEqual([]);
  });

  it('keeps no file over 5 MB outside resources', () => {
    const large = files.filter(
      (file) => !file.startsWith('resources/') && statSync(path.join(root, file)).size > 5 * 1024 * 1024,
    );
    expect(large).toEqual([]);
  });

  it('has a .ci/run that is executable and parses', () => {
    expect(statSync(path.join(root, '.ci/run')).mode & 0o111).not.toBe(0);
    const parsed = spawnSync('bash', ['-n', '.ci/run'], { cwd: root, encoding: 'utf8' });
    expect(parsed.stderr).toBe('');
    expect(parsed.status).toBe(0);
  });

  it('runs the tests on Node 24 or newer, whatever started npm', () => {
    expect(Number(process.versions.node.split('.')[0])).toBeGreaterThanOrEqual(24);
  });
});
