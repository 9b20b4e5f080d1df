/** Entry of the inference process. */
import { openHostLine } from '../channel/serve-calls.ts';
import { Inference } from './inference.ts';

const statusEveryMs = 500;

const host = openHostLine();
const inference = new Inference({
  gpu: process.env['DAYDREAM_GPU'] === 'off' ? 'off' : 'auto',
  keyValueType: process.env['DAYDREAM_KV_CACHE'] === 'F32' ? 'F32' : 'F16',
  maxThreads: Math.max(1, Number(process.env['DAYDREAM_MAX_THREADS'] ?? '1') || 1),
  log: (level, text) => {
    host.send({ kind: 'log', level, text });
  },
});
let lastStatus = '';

function reportStatus(): void {
  const status = inference.status(performance.now());
  const text = JSON.stringify(status);
  if (text === lastStatus) return;
  lastStatus = text;
  host.send({ kind: 'status', status });
}

setInterval(reportStatus, statusEveryMs).unref();
host.serve({ name: 'inference', handlers: inference.handlers, inTurn: false, onAnswered: reportStatus });
