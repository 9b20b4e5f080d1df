import type { ComponentProps } from 'react';
import type { PageRoute } from '../route.ts';

/** What the router hands to a page: the parts of its path. */
export type PageProps = ComponentProps<PageRoute['component']>;
