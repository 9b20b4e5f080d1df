export { openStore } from '#core/store/open-store.ts';
