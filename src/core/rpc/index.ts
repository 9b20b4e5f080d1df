/** The contract over the services. */
export { OutgoingMeter } from '#core/rpc/outgoing.ts';
export { PlayDesk } from '#core/rpc/play.ts';
export { createRouter } from '#core/rpc/router.ts';
export type { AppRouter } from '#core/rpc/router.ts';
export { TokenTexts } from '#core/rpc/token-texts.ts';
