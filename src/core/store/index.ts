export { openStore } from '#core/store/open-store.ts';
export { acquireHostLock, readHostAddress } from '#core/store/host-lock.ts';
export type { HostAddress, HostLock } from '#core/store/host-lock.ts';
export { createStoreReader } from '#core/store/reader.ts';
