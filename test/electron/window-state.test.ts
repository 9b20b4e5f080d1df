import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  defaultSize,
  fitToDisplays,
  keepWindowState,
  minimumSize,
  openingBounds,
  readWindowState,
} from '../../src/main/window-state.ts';
import type { WindowPart } from '../../src/main/electron-api.ts';
import { FakeWindow, createFakeElectron } from './fake-electron.ts';

const left = { x: 0, y: 0, width: 1920, height: 1040 };
const right = { x: 1920, y: -200, width: 2560, height: 1400 };

describe('window bounds', () => {
  it('stay as they were on the display that shows them', () => {
    const bounds = { x: 2000, y: 100, width: 1200, height: 800 };
    expect(fitToDisplays(bounds, [left, right])).toEqual(bounds);
  });
  it('are dropped when their display is gone', () => {
    expect(fitToDisplays({ x: 2000, y: 100, width: 1200, height: 800 }, [left])).toBeNull();
  });
  it('are dropped when the title bar is out of reach', () => {
    expect(fitToDisplays({ x: 100, y: -500, width: 1200, height: 800 }, [left])).toBeNull();
    expect(fitToDisplays({ x: 1900, y: 100, width: 1200, height: 800 }, [left])).toBeNull();
  });
  it('shrink to a smaller display and grow to the smallest useful size', () => {
    expect(fitToDisplays({ x: 0, y: 0, width: 4000, height: 3000 }, [left])).toEqual(left);
    expect(fitToDisplays({ x: 0, y: 0, width: 200, height: 100 }, [left])).toEqual({
      x: 0,
      y: 0,
      ...minimumSize,
    });
  });
  it('fall back to the default without a state', () => {
    const electron = createFakeElectron();
    expect(openingBounds(null, electron.api)).toEqual(defaultSize);
  });
  it('always open where the title bar can be reached', () => {
    const number = fc.integer({ min: -5000, max: 5000 });
    const size = fc.integer({ min: 1, max: 6000 });
    fc.assert(
      fc.property(number, number, size, size, (x, y, width, height) => {
        const fitted = fitToDisplays({ x, y, width, height }, [left, right]);
        if (fitted === null) return;
        const reached = [left, right].some(
          (area) =>
            fitted.x < area.x + area.width &&
            fitted.x + fitted.width > area.x &&
            fitted.y >= area.y - 40 &&
            fitted.y < area.y + area.height,
        );
        expect(reached).toBe(true);
        expect(fitted.width).toBeGreaterThanOrEqual(minimumSize.width);
      }),
    );
  });
});

describe('the window state file', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'daydream-window-'));
    file = path.join(folder, 'desktop', 'window-state.json');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const never = (error: unknown) => {
    throw error;
  };

  it('keeps bounds and maximised over a restart', async () => {
    const window = new FakeWindow({});
    const saved = keepWindowState(window as FakeWindow & WindowPart, file, { onError: never });
    window.bounds = { x: 5, y: 6, width: 1111, height: 777 };
    window.maximized = true;
    window.close();
    await saved();
    expect(await readWindowState(file)).toEqual({ bounds: window.bounds, maximized: true });
    expect(await readdir(path.dirname(file))).toEqual(['window-state.json']);
  });

  it('writes once after the window came to rest', async () => {
    const window = new FakeWindow({});
    const saved = keepWindowState(window as FakeWindow & WindowPart, file, { restMs: 20, onError: never });
    for (let width = 900; width < 910; width += 1) {
      window.bounds = { x: 0, y: 0, width, height: 700 };
      window.emit('resize');
    }
    expect(await readWindowState(file)).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 60));
    await saved();
    expect((await readWindowState(file))?.bounds.width).toBe(909);
  });

  it('does not keep full screen', async () => {
    const window = new FakeWindow({});
    const saved = keepWindowState(window as FakeWindow & WindowPart, file, { onError: never });
    window.fullScreen = true;
    window.close();
    await saved();
    expect(await readWindowState(file)).toBeNull();
  });

  it('reports a folder that cannot be written and goes on', async () => {
    await writeFile(path.join(folder, 'desktop'), 'a file where the folder should be');
    const window = new FakeWindow({});
    const errors: unknown[] = [];
    const saved = keepWindowState(window as FakeWindow & WindowPart, file, {
      onError: (error) => errors.push(error),
    });
    window.close();
    await saved();
    expect(errors).toHaveLength(1);
  });

  it('reads anything damaged as no state', async () => {
    const damaged = path.join(folder, 'state.json');
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (text) => {
        await writeFile(damaged, text);
        expect(await readWindowState(damaged)).toBeNull();
      }),
      { numRuns: 100 },
    );
    await writeFile(damaged, '{"bounds":{"x":1e99,"y":0,"width":10,"height":10},"maximized":false}');
    expect(await readWindowState(damaged)).toBeNull();
    expect((await readFile(damaged, 'utf8')).length).toBeGreaterThan(0);
  });
});
