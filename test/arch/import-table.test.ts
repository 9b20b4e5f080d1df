import { describe, expect, it } from 'vitest';
import { isCode, readSources } from '#test/arch/source.ts';
import { ruleNames, violationsOf } from '#test/arch/rules.ts';
import { badSamples, goodSamples } from '#test/arch/samples.ts';

describe('the import table', () => {
  it('holds for every file of the repository', () => {
    const files = readSources((file) => /^(src|scripts|bench|test|bin)\//.test(file) && isCode(file));
    expect(files.length).toBeGreaterThan(20);
    expect(
      violationsOf(files).map(({ rule, file, line, message }) => `${file}:${line} [${rule}] ${message}`),
    ).toEqual([]);
  });

  it('has a bad sample for each rule', () => {
    expect(new Set(badSamples.map((sample) => sample.rule))).toEqual(new Set(ruleNames));
  });

  it.each(badSamples.map((sample, index) => ({ ...sample, index })))(
    'fires "$rule" on sample $index ($path)',
    ({ rule, path, text, with: others = [] }) => {
      expect(violationsOf([{ path, text }, ...others]).map((violation) => violation.rule)).toContain(rule);
    },
  );

  it('is silent about good files', () => {
    expect(violationsOf(goodSamples)).toEqual([]);
  });

  it('lets a test import what it tests', () => {
    const text =
      "import { open } from '#core/store/driver.ts';\nimport { spawn } from 'node:child_process';\n";
    expect(violationsOf([{ path: 'src/core/jobs/engine.test.ts', text }])).toEqual([]);
  });

  it('reports the line of the import', () => {
    const text = "\n\nimport { app } from 'electron';\n";
    expect(violationsOf([{ path: 'src/core/jobs/a.ts', text }])[0]?.line).toBe(3);
  });
});
