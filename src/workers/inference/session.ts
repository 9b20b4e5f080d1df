/**
 * Prompts into sequences: keeps what the cache already holds, copies a longer beginning from another sequence if there is one,
 * evaluates only the rest, and counts truthfully what was evaluated.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sentence } from '#shared/sentence.ts';
import type { Decoder } from './decoder.ts';
import type { NativeContext } from './native.ts';
import { commonPrefix } from './slots.ts';
import type { Slot, Slots } from './slots.ts';

/** A copy goes through a memory-backed file; below this many tokens evaluating is as cheap. */
const worthCopying = 32;
const memoryFolder = '/dev/shm';

export class PromptCache {
  readonly #context: NativeContext;
  readonly #decoder: Decoder;
  readonly #slots: Slots;
  readonly #warn: (text: string) => void;
  #failedCopies = 0;

  constructor(context: NativeContext, decoder: Decoder, slots: Slots, warn: (text: string) => void) {
    this.#context = context;
    this.#decoder = decoder;
    this.#slots = slots;
    this.#warn = warn;
  }

  /** Evaluates `tokens` into `slot`; `rows` (absolute positions, all ≥ `keepAtMost`) get logits. Returns how many were evaluated. */
  async fill(
    slot: Slot,
    tokens: readonly number[],
    options: {
      keepAtMost: number;
      rows: readonly number[];
      onRow(position: number, row: number): Promise<void>;
      signal: AbortSignal;
    },
  ): Promise<number> {
    const donor = this.#donor(slot, tokens);
    if (donor !== null) await this.#borrow(slot, tokens, donor, options.signal);
    // Announced before the first await of its own, so that whoever comes now waits for it; it waits for nobody any more.
    const done = Promise.withResolvers<void>();
    slot.target = tokens;
    slot.targetReady = done.promise;
    try {
      const keep = await this.truncate(slot, Math.min(commonPrefix(slot.tokens, tokens), options.keepAtMost));
      await this.append(slot, tokens.slice(keep), {
        rows: options.rows.map((position) => position - keep),
        onRow: (index, row) => options.onRow(keep + index, row),
        signal: options.signal,
      });
      return tokens.length - keep;
    } finally {
      slot.target = slot.tokens;
      done.resolve();
    }
  }

  /** Evaluates `tokens` behind what the slot holds. */
  async append(
    slot: Slot,
    tokens: readonly number[],
    options: {
      rows: readonly number[];
      onRow(index: number, row: number): Promise<void>;
      signal: AbortSignal;
    },
  ): Promise<void> {
    let done = 0;
    await this.#decoder.decode(
      { sequence: slot.sequence, start: slot.tokens.length, tokens, ...options },
      (count) => {
        for (const token of tokens.slice(done, done + count)) slot.tokens.push(token);
        done += count;
      },
    );
  }

  /** Drops the cache behind `length`. Recurrent models cannot drop a tail: then all of it goes. Returns what is left. */
  async truncate(slot: Slot, length: number): Promise<number> {
    if (length >= slot.tokens.length) return slot.tokens.length;
    return this.#decoder.exclusive(() => {
      const kept = length > 0 && this.#context.removeTokenCellsFromSequence(slot.sequence, length, -1);
      if (!kept) this.#context.disposeSequence(slot.sequence);
      slot.tokens = slot.tokens.slice(0, kept ? length : 0);
      return slot.tokens.length;
    });
  }

  /** Gives `to` the cache of `from`. False if it could not be copied; `to` is then empty. */
  async copy(from: Slot, to: Slot): Promise<boolean> {
    return this.#decoder.exclusive(async () => {
      const tokens = [...from.tokens];
      // A folder of its own each time: private to the user, and a killed process leaves at most one behind.
      let folder: string | null = null;
      try {
        folder = mkdtempSync(join(existsSync(memoryFolder) ? memoryFolder : tmpdir(), 'daydream-kv-'));
        const file = join(folder, 'sequence');
        await this.#context.saveSequenceStateToFile(file, from.sequence, Uint32Array.from(tokens));
        this.#context.disposeSequence(to.sequence);
        to.tokens = [];
        await this.#context.loadSequenceStateFromFile(file, to.sequence, tokens.length);
        to.tokens = tokens;
        return true;
      } catch (error) {
        this.#context.disposeSequence(to.sequence);
        to.tokens = [];
        this.#copyFailed(error);
        return false;
      } finally {
        if (folder !== null) rmSync(folder, { recursive: true, force: true });
      }
    });
  }

  /** Once with the reason: a full memory folder fails every copy. */
  #copyFailed(error: unknown): void {
    this.#failedCopies += 1;
    if (this.#failedCopies > 1) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#warn(
      `A conversation's KV cache could not be copied to another sequence: ${sentence(reason)} Prompts are evaluated instead: slower, with the same results.`,
    );
  }

  /** Says how often copies failed, where it was more than what was said already. */
  close(): void {
    if (this.#failedCopies > 1) this.#warn(`Copies of a KV cache that failed: ${this.#failedCopies}.`);
  }

  /** Another session may have evaluated the same beginning (instructions, examples), or be about to. */
  #donor(slot: Slot, tokens: readonly number[]): { slot: Slot; length: number } | null {
    const donor = this.#slots.bestDonor(tokens, slot);
    return donor !== null && donor.length - commonPrefix(slot.tokens, tokens) >= worthCopying ? donor : null;
  }

  async #borrow(
    slot: Slot,
    tokens: readonly number[],
    donor: { slot: Slot; length: number },
    signal: AbortSignal,
  ): Promise<void> {
    if (commonPrefix(donor.slot.tokens, tokens) < donor.length) await donor.slot.targetReady;
    signal.throwIfAborted();
    const gain = commonPrefix(donor.slot.tokens, tokens) - commonPrefix(slot.tokens, tokens);
    // A copy moves the donor's whole sequence, so a long conversation is not copied for a short beginning.
    if (gain >= worthCopying && donor.slot.tokens.length <= gain * 8) await this.copy(donor.slot, slot);
  }
}
