import type { ComponentType } from 'react';
import type { Icon } from '@tabler/icons-react';

/** A page of a feature; `path` is a wouter pattern such as `/runs/:jobId`. */
export interface PageRoute {
  path: string;
  component: ComponentType<{ params: Readonly<Record<string, string | undefined>> }>;
}

/** What the palette lists and opens; found by its name and by `words`, which people call it too. */
export interface Place {
  href: string;
  name: string;
  words: string;
}

/** What a feature's `routes.tsx` exports as `feature`: its pages, and its place in the navigation. */
export interface Feature {
  label: string;
  /** Order of work: Home 0, Models 1, Environments 2, Runs 3, Trajectories 4, …, Datasets 8, Settings 9. */
  order: number;
  href: string;
  icon: Icon;
  pages: readonly PageRoute[];
  /** What people call it too, for the palette. */
  words: string;
  /** Further places that the palette lists. */
  places?: readonly Place[];
}
