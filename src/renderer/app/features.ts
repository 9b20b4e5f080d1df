import type { Feature, PageRoute, Place } from '../ui/route.ts';

/** A feature is a folder with a `routes.tsx`; navigation and routes show the ones that exist and nothing else. */
const modules = import.meta.glob<{ feature: Feature }>('../features/*/routes.tsx', { eager: true });

export const features: readonly Feature[] = Object.values(modules)
  .map(({ feature }) => feature)
  .toSorted((left, right) => left.order - right.order);

export const pages: readonly PageRoute[] = features.flatMap((feature) => feature.pages);

/** Every page that has an address of its own without an id, as the palette lists them. */
export const places: readonly Place[] = features.flatMap(({ label, href, words, places: further = [] }) => [
  { href, name: label, words },
  ...further,
]);
