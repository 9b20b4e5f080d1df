import { ESLint } from 'eslint';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '#test/arch/source.ts';
import { badSamples, goodSamples } from '#test/arch/samples.ts';

describe('eslint.config.js', () => {
  let eslint: ESLint;
  beforeAll(() => {
    eslint = new ESLint({ cwd: root });
  });

  async function rulesFor(path: string, text: string): Promise<(string | null)[]> {
    const [result] = await eslint.lintText(text, { filePath: path });
    return (result?.messages ?? []).map((message) => message.ruleId);
  }

  it.each(badSamples.filter((sample) => sample.lint).map((sample, index) => ({ ...sample, index })))(
    'reports "$rule" while one types ($path, $index)',
    async ({ path, text }) => {
      const rules = await rulesFor(path, text);
      expect(rules.some((rule) => rule === 'no-restricted-imports' || rule === 'no-console')).toBe(true);
    },
  );

  it.each(goodSamples)('is silent about $path', async ({ path, text }) => {
    expect(await rulesFor(path, text)).toEqual([]);
  });

  it.each([
    ['any', 'src/core/a.ts', 'export const a = (x: any) => x;\n', '@typescript-eslint/no-explicit-any'],
    [
      'a non-null mark',
      'src/core/a.ts',
      'export const a = (x?: string) => x!.length;\n',
      '@typescript-eslint/no-non-null-assertion',
    ],
    [
      'a mkdir that may never end',
      'src/core/a.ts',
      "import { mkdirSync } from 'node:fs';\nmkdirSync('a', { recursive: true });\n",
      'no-restricted-syntax',
    ],
    ['a loose comparison', 'src/core/a.ts', 'export const a = (x: string) => x == "b";\n', 'eqeqeq'],
  ])('reports %s', async (_name, path, text, rule) => {
    expect(await rulesFor(path, text)).toContain(rule);
  });
});
