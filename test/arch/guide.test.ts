import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCodes } from '#shared/errors.ts';
import { readSources, root } from '#test/arch/source.ts';

const faq = readFileSync(path.join(root, 'docs/guide/faq.md'), 'utf8');
const entries = new Map(
  faq
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [code = '', ...lines] = section.split('\n');
      return [code.trim(), lines.join('\n')] as const;
    }),
);

describe('the guide', () => {
  it.each(errorCodes)('explains %s: what it means, what was kept, what to do', (code) => {
    const text = entries.get(code) ?? '';
    for (const part of ['Meaning', 'Kept', 'Do']) {
      expect(text, part).toMatch(
        new RegExp(`\\*\\*${part}\\.\\*\\* \\S.{10}|\\*\\*${part}\\.\\*\\* Nothing`, 's'),
      );
    }
  });

  it('explains no code that does not exist', () => {
    expect([...entries.keys()].filter((code) => !(errorCodes as readonly string[]).includes(code))).toEqual(
      [],
    );
  });

  it('links to files that exist', () => {
    const broken = readSources((file) => file.endsWith('.md')).flatMap(({ path: file, text }) =>
      [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(path.join(root, path.dirname(file), decodeURIComponent(target))))
        .map((target) => `${file} → ${target}`),
    );
    expect(broken).toEqual([]);
  });
});
