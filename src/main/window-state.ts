/** Size and place of the window from last time, if a display still shows them. A damaged file means the defaults. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { ElectronApi, WindowPart } from './electron-api.ts';

const boundsSchema = z.object({
  x: z.int().min(-100_000).max(100_000),
  y: z.int().min(-100_000).max(100_000),
  width: z.int().min(1).max(100_000),
  height: z.int().min(1).max(100_000),
});
export const windowStateSchema = z.object({ bounds: boundsSchema, maximized: z.boolean() });
export type WindowState = z.infer<typeof windowStateSchema>;
export type Bounds = z.infer<typeof boundsSchema>;

export const minimumSize = { width: 900, height: 600 };
export const defaultSize = { width: 1360, height: 880 };
/** So much of the title bar must be within reach of the mouse. */
const reachable = { width: 120, height: 40 };

function overlap(bounds: Bounds, area: Bounds): { width: number; height: number } {
  return {
    width: Math.min(bounds.x + bounds.width, area.x + area.width) - Math.max(bounds.x, area.x),
    height: Math.min(bounds.y + reachable.height, area.y + area.height) - Math.max(bounds.y, area.y),
  };
}

function shrunkTo(bounds: Bounds, area: Bounds): Bounds {
  const size = (wanted: number, least: number, most: number) =>
    Math.max(Math.min(wanted, most), Math.min(least, most));
  return {
    x: bounds.x,
    y: bounds.y,
    width: size(bounds.width, minimumSize.width, area.width),
    height: size(bounds.height, minimumSize.height, area.height),
  };
}

/** The bounds to open with: as they were, shrunk to their display; null when no display would show the title bar then. */
export function fitToDisplays(bounds: Bounds, workAreas: readonly Bounds[]): Bounds | null {
  for (const area of workAreas) {
    const fitted = shrunkTo(bounds, area);
    const seen = overlap(fitted, area);
    if (seen.width >= reachable.width && seen.height >= reachable.height) return fitted;
  }
  return null;
}

export async function readWindowState(file: string): Promise<WindowState | null> {
  try {
    return windowStateSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return null;
  }
}

async function writeWindowState(file: string, state: WindowState): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.new`;
  await writeFile(temporary, JSON.stringify(state));
  await rename(temporary, file);
}

/** What to pass to BrowserWindow. */
export function openingBounds(
  state: WindowState | null,
  { screen }: Pick<ElectronApi, 'screen'>,
): Partial<Bounds> & { width: number; height: number } {
  const areas = screen.getAllDisplays().map((display) => display.workArea);
  return (state === null ? null : fitToDisplays(state.bounds, areas)) ?? defaultSize;
}

/**
 * Saves after the window came to rest and when it closes.
 * @returns resolves when everything so far is on disk
 */
export function keepWindowState(
  window: WindowPart,
  file: string,
  { restMs = 400, onError }: { restMs?: number; onError(error: unknown): void },
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const save = () => {
    clearTimeout(timer);
    // Full screen is a moment's choice; it is not where the window lives.
    if (window.isDestroyed() || window.isFullScreen()) return;
    const state = { bounds: window.getNormalBounds(), maximized: window.isMaximized() };
    writing = writing.then(() => writeWindowState(file, state)).catch(onError);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(save, restMs);
  };
  window.on('resize', later);
  window.on('move', later);
  window.on('maximize', later);
  window.on('unmaximize', later);
  window.on('close', save);
  return () => writing;
}
