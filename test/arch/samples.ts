/** One bad file for each rule (so that a rule which stopped firing is noticed), and good neighbours that must stay silent. */
import type { SourceFile } from '#test/arch/source.ts';

export interface Sample extends SourceFile {
  rule: string;
  /** Does eslint.config.js see it too? Resolved paths, cycles and length are the architecture test's alone. */
  lint: boolean;
  with?: SourceFile[];
}

export const badSamples: Sample[] = [
  {
    rule: 'shared runs anywhere',
    path: 'src/shared/bad.ts',
    text: "import { join } from 'node:path';\nexport const a = join;\n",
    lint: true,
  },
  {
    rule: 'shared runs anywhere',
    path: 'src/shared/bad.ts',
    text: "import type { Clock } from '#core/ports.ts';\nexport type A = Clock;\n",
    lint: true,
  },
  {
    rule: 'shared runs anywhere',
    path: 'src/shared/bad.ts',
    text: "import { a } from '../core/ports.ts';\nexport const b = a;\n",
    lint: false,
  },
  {
    rule: 'core is host-neutral',
    path: 'src/core/jobs/bad.ts',
    text: "import { useState } from 'react';\nexport const a = useState;\n",
    lint: true,
  },
  {
    rule: 'core is host-neutral',
    path: 'src/core/jobs/bad.ts',
    text: "import { start } from '../../cli/main.ts';\nexport const a = start;\n",
    lint: true,
  },
  {
    rule: 'core is host-neutral',
    path: 'src/core/jobs/bad.ts',
    text: "import { a } from '#workers/inference/main.ts';\nexport const b = a;\n",
    lint: true,
  },
  {
    rule: 'core is host-neutral',
    path: 'src/core/jobs/bad.ts',
    text: "import { debounce } from 'lodash';\nexport const a = debounce;\n",
    lint: false,
  },
  {
    rule: 'core areas meet at index.ts or port.ts',
    path: 'src/core/jobs/bad.ts',
    text: "import { open } from '#core/store/driver.ts';\nexport const a = open;\n",
    lint: false,
  },
  {
    rule: 'core areas meet at index.ts or port.ts',
    path: 'src/core/jobs/bad.ts',
    text: "import { createApp } from '#core/app.ts';\nexport const a = createApp;\n",
    lint: false,
  },
  {
    rule: 'core areas meet at index.ts or port.ts',
    path: 'src/core/jobs/bad.ts',
    text: "export type A = import('../store/rows.ts').Row;\n",
    lint: false,
  },
  {
    rule: 'workers stand alone',
    path: 'src/workers/inference/bad.ts',
    text: "import { createEngine } from '#core/jobs/index.ts';\nexport const a = createEngine;\n",
    lint: true,
  },
  {
    rule: 'workers stand alone',
    path: 'src/workers/inference/bad.ts',
    text: "import { a } from '../store-reader/main.ts';\nexport const b = a;\n",
    lint: false,
  },
  {
    rule: 'hosts are thin',
    path: 'src/main/bad.ts',
    text: "import { openStore } from '#core/store/index.ts';\nexport const a = openStore;\n",
    lint: true,
  },
  {
    rule: 'hosts are thin',
    path: 'src/cli/bad.ts',
    text: "import type { Store } from '#core/store/port.ts';\nexport type A = Store;\n",
    lint: true,
  },
  {
    rule: 'hosts are thin',
    path: 'src/serve/bad.ts',
    text: "export const a = await import('#core/jobs/index.ts');\n",
    lint: false,
  },
  {
    rule: 'hosts are thin',
    path: 'src/serve/bad.ts',
    text: "import { run } from '../cli/main.ts';\nexport const a = run;\n",
    lint: false,
  },
  {
    rule: 'hosts are thin',
    path: 'src/cli/bad.ts',
    text: "import _ from 'lodash';\nexport const a = _;\n",
    lint: false,
  },
  {
    rule: 'src has no other folders',
    path: 'src/extra/bad.ts',
    text: "import { openStore } from '#core/store/index.ts';\nexport const a = openStore;\n",
    lint: false,
  },
  ...[
    "new Function('return 1')()",
    "eval('1')",
    "Module._load('electron')",
    "process.dlopen({}, 'x.node')",
  ].map((text) => ({
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: `export const a = ${text};\n`,
    lint: false,
  })),
  {
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: "import fs = require('fs');\nexport const a = fs;\n",
    lint: false,
  },
  {
    rule: 'preload is only a bridge',
    path: 'src/preload/bad.ts',
    text: "import { contract } from '#shared/contract/index.ts';\nexport const a = contract;\n",
    lint: true,
  },
  {
    rule: 'renderer has no Node',
    path: 'src/renderer/ui/bad.ts',
    text: "import { readFile } from 'node:fs/promises';\nexport const a = readFile;\n",
    lint: true,
  },
  {
    rule: 'renderer has no Node',
    path: 'src/renderer/ui/bad.tsx',
    text: "import type { Store } from '#core/store/port.ts';\nexport type A = Store;\n",
    lint: true,
  },
  {
    rule: 'renderer has no Node',
    path: 'src/renderer/ui/bad.ts',
    text: "import pino from 'pino';\nexport const a = pino;\n",
    lint: false,
  },
  {
    rule: 'features do not know each other',
    path: 'src/renderer/features/home/bad.tsx',
    text: "import { Chart } from '../runs/chart.tsx';\nexport const a = Chart;\n",
    lint: false,
  },
  {
    rule: 'features do not know each other',
    path: 'src/renderer/ui/bad.tsx',
    text: "import { Chart } from '../features/runs/chart.tsx';\nexport const a = Chart;\n",
    lint: false,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/core/jobs/bad.ts',
    text: "import { app } from 'electron';\nexport const a = app;\n",
    lint: true,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/core/store/bad.ts',
    text: "import type { Database } from 'better-sqlite3';\nexport type A = Database;\n",
    lint: true,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/core/llm/bad.ts',
    text: "import { getLlama } from 'node-llama-cpp';\nexport const a = getLlama;\n",
    lint: true,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/core/datasets/bad.ts',
    text: "import { chromium } from 'playwright-core';\nexport const a = chromium;\n",
    lint: true,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/main/bad.ts',
    text: "import { WebSocketServer } from 'ws';\nexport const a = WebSocketServer;\n",
    lint: true,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/main/bad.ts',
    text: "import { spawn } from 'node:child_process';\nexport const a = spawn;\n",
    lint: true,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/core/process/bad.ts',
    text: "const { spawn } = require('child_process');\nexport const a = spawn;\n",
    lint: false,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/core/store/driver.ts',
    text: "import { DatabaseSync } from 'node:sqlite';\nexport const a = DatabaseSync;\n",
    lint: false,
  },
  {
    rule: 'imports name their target',
    path: 'src/core/jobs/bad.ts',
    text: 'export const a = (name: string) => import(name);\n',
    lint: false,
  },
  {
    rule: 'no cycles between core areas',
    path: 'src/core/jobs/bad.ts',
    text: "import { open } from '#core/store/index.ts';\nexport const a = open;\n",
    lint: false,
    with: [
      {
        path: 'src/core/store/index.ts',
        text: "import type { Engine } from '#core/jobs/index.ts';\nexport type A = Engine;\n",
      },
    ],
  },
  {
    rule: 'no cycles between files',
    path: 'src/core/rpc/bad.ts',
    text: "import { b } from '#core/rpc/worse.ts';\nexport interface A {}\nexport const a = b;\n",
    lint: false,
    with: [
      {
        path: 'src/core/rpc/worse.ts',
        text: "import type { A } from './bad.ts';\nexport const b: A = {};\n",
      },
    ],
  },
  {
    rule: 'no console outside the command line',
    path: 'src/core/jobs/bad.ts',
    text: "console.log('x');\n",
    lint: true,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/core/jobs/bad.mts',
    text: "import { app } from 'electron';\nexport const a = app;\n",
    lint: false,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/core/jobs/bad.js',
    text: "import { app } from 'electron';\nexport const a = app;\n",
    lint: false,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/core/jobs/bad.cjs',
    text: "import { app } from 'electron';\nexport const a = app;\n",
    lint: false,
  },
  {
    rule: 'one owner for each dangerous package',
    path: 'src/workers/inference/bad.ts',
    text: "import koffi from 'koffi';\nexport const a = koffi;\n",
    lint: true,
  },
  {
    rule: 'workers stand alone',
    path: 'src/workers/inference/bad.ts',
    text: "import a from 'pino';\nexport const b = a;\n",
    lint: false,
  },
  {
    rule: 'workers stand alone',
    path: 'src/workers/inference/bad.ts',
    text: "import a from 'node:net';\nexport const b = a;\n",
    lint: false,
  },
  {
    rule: 'workers stand alone',
    path: 'src/workers/inference/bad.ts',
    text: "import a from 'node:http';\nexport const b = a;\n",
    lint: false,
  },
  {
    rule: 'workers stand alone',
    path: 'src/workers/inference/bad.ts',
    text: "import a from 'koffi';\nexport const b = a;\n",
    lint: false,
  },
  {
    rule: 'workers stand alone',
    path: 'src/workers/inference/bad.ts',
    text: "import a from 'node:vm';\nexport const b = a;\n",
    lint: false,
  },
  {
    rule: 'workers stand alone',
    path: 'src/workers/store-reader/bad.ts',
    text: "import { Template } from '@huggingface/jinja';\nexport const a = Template;\n",
    lint: false,
  },
  {
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: "import { createRequire } from 'node:module';\nexport const a = createRequire(import.meta.url)('better-sqlite3');\n",
    lint: false,
  },
  {
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: "import { createRequire } from 'node:module';\nconst load = createRequire(import.meta.url);\nexport const a = load('better-sqlite3');\n",
    lint: false,
  },
  {
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: "import { createRequire } from 'node:module';\nconst load = createRequire(import.meta.url);\nexport const a = [load].map((f) => f('electron'));\n",
    lint: false,
  },
  {
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: "import { createRequire } from 'node:module';\nexport const a = createRequire;\n",
    lint: false,
  },
  {
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: "import { createRequire as make } from 'node:module';\nexport const a = make(import.meta.url)('ws');\n",
    lint: false,
  },
  {
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: "import * as modules from 'node:module';\nexport const a = modules.createRequire(import.meta.url)('ws');\n",
    lint: false,
  },
  {
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: "import * as modules from 'node:module';\nexport const a = modules['createRequire'](import.meta.url)('ws');\n",
    lint: false,
  },
  {
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: "export const a = process.getBuiltinModule('node:child_process');\n",
    lint: false,
  },
  {
    rule: 'nothing is loaded past the table',
    path: 'src/core/jobs/bad.ts',
    text: "const { getBuiltinModule: load } = process;\nexport const a = load('node:child_process');\n",
    lint: false,
  },
  {
    rule: 'no cycles between core areas',
    path: 'src/core/jobs/bad.ts',
    text: "import { bridge } from '#core/bridge.ts';\nexport const a = bridge;\n",
    lint: false,
    with: [
      { path: 'src/core/bridge.ts', text: "export { act as bridge } from '#core/agents/index.ts';\n" },
      {
        path: 'src/core/agents/index.ts',
        text: "import type { Engine } from '#core/jobs/index.ts';\nexport type A = Engine;\n",
      },
    ],
  },
  {
    rule: 'no console outside the command line',
    path: 'src/core/jobs/bad.ts',
    text: "const { log } = console;\nlog('x');\n",
    lint: false,
  },
  {
    rule: 'no console outside the command line',
    path: 'src/core/jobs/bad.ts',
    text: 'export const a = [console];\n',
    lint: false,
  },
  {
    rule: 'no console outside the command line',
    path: 'src/core/jobs/bad.ts',
    text: "globalThis.console.log('x');\n",
    lint: false,
  },
  { rule: 'a file is one idea', path: 'src/core/jobs/bad.ts', text: 'export {};\n'.repeat(501), lint: false },
];

export const goodSamples: SourceFile[] = [
  {
    path: 'src/workers/trainer/a.ts',
    text: "import { createRequire } from 'node:module';\nimport koffi from 'koffi';\nconst require = createRequire(createRequire(import.meta.url).resolve('node-llama-cpp'));\nexport const a = [koffi, require.resolve.paths('x'), require.resolve('y')];\n",
  },
  {
    path: 'src/core/jobs/b.ts',
    text: 'export const a = { console: 1 };\nexport const b = a.console;\n// console.log, createRequire\n',
  },
  {
    path: 'src/shared/a.ts',
    text: "import { z } from 'zod';\nimport { id } from '#shared/ids.ts';\nexport const a = [z, id];\n",
  },
  {
    path: 'src/core/jobs/a.ts',
    text: "import { open } from '#core/store/index.ts';\nimport type { Clock } from '#core/ports.ts';\nexport const a: [unknown, Clock?] = [open];\n",
  },
  {
    path: 'src/core/store/index.ts',
    text: "import type { Engine } from '#core/jobs/port.ts';\nimport { b } from './driver.ts';\nexport const c: Engine | null = b;\n",
  },
  {
    path: 'src/core/store/driver.ts',
    text: "import Database from 'better-sqlite3';\nexport const b = Database;\n",
  },
  {
    path: 'src/workers/inference/a.ts',
    text: "import { getLlama } from 'node-llama-cpp';\nimport { b } from './b.ts';\nexport const a = [getLlama, b];\n",
  },
  {
    path: 'src/workers/store-reader/a.ts',
    text: "import { b } from '#core/store/driver.ts';\nexport const a = b;\n",
  },
  {
    path: 'src/main/a.ts',
    text: "import type Electron from 'electron';\nimport { createApp } from '#core/app.ts';\nexport const a: [unknown, typeof Electron?] = [createApp];\n",
  },
  { path: 'src/cli/a.ts', text: "import { serve } from '../serve/index.ts';\nconsole.log(serve);\n" },
  {
    path: 'src/renderer/features/home/a.tsx',
    text: "import { Button } from '@mantine/core';\nimport { Page } from '../../ui/page.tsx';\nexport const a = [Button, Page];\n",
  },
  {
    path: 'src/renderer/app/routes.tsx',
    text: "import { Home } from '../features/home/home.tsx';\nexport const a = Home;\n",
  },
];
