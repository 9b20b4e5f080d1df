/**
 * The text of an answer while it grows: each new token costs the text of a few tokens, never that of the whole answer again.
 * A character of several bytes may be split between tokens; its tokens stay open until their bytes are a whole character.
 */

/** A UTF-8 character has at most four bytes; more open tokens are bytes that never become one. */
const OPEN_AT_MOST = 4;
const REPLACEMENT = '\uFFFD';

export class GrowingText {
  readonly #textOf: (tokens: readonly number[], before: readonly number[]) => string;
  #settled = '';
  /** Tokens whose text is settled last: what detokenizers need to know about the start of the next. */
  #before: readonly number[] = [];
  #open: number[] = [];
  #openText = '';

  /** @param textOf text of `tokens` as they stand after `before`, whose own text is not part of it; empty for a new answer */
  constructor(textOf: (tokens: readonly number[], before: readonly number[]) => string) {
    this.#textOf = textOf;
  }

  push(token: number): void {
    this.#open.push(token);
    this.#openText = this.#textOf(this.#open, this.#before);
    if (this.#openText.endsWith(REPLACEMENT) && this.#open.length < OPEN_AT_MOST) return;
    this.#settled += this.#openText;
    // A control token has no text and tells nothing about a leading space.
    if (this.#openText !== '') this.#before = this.#open;
    this.#open = [];
    this.#openText = '';
  }

  get text(): string {
    return this.#settled + this.#openText;
  }
}
