/** One more sentence can follow: the words, with a full stop where they end without a mark. Empty stays empty. */
export function sentence(words: string): string {
  const trimmed = words.trimEnd();
  return trimmed === '' || /[.!?…][)"'”’\]`]*$/u.test(trimmed) ? trimmed : `${trimmed}.`;
}
