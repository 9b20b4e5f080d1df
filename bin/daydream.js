#!/usr/bin/env node
// Plain JavaScript for any Node >= 20.19: re-executes itself with the Node 24 that npm installed, which runs TypeScript
// directly and can load the native modules.
import { fileURLToPath } from 'node:url';
import { explainMissingNode, findNode, runInForeground } from './use-node.js';

const entry = new URL('../src/cli/main.ts', import.meta.url);
const node = findNode();

if (node === process.execPath) await import(entry.href);
else if (node === null) explainMissingNode();
else runInForeground(node, [fileURLToPath(entry), ...process.argv.slice(2)], { listens: true });
