import { expect, it } from 'vitest';
import { places } from './features.ts';
import { matchesQuery } from './palette-entries.ts';

it('finds pages by what people call them, not by their label alone', () => {
  const found = (query: string) =>
    places.filter(({ name, words }) => matchesQuery(`${name} ${words}`, query)).map(({ href }) => href);
  expect(found('reflec')).toEqual(['/trajectories/reviews']);
  expect(found('review queue')).toEqual(['/trajectories/reviews']);
  expect(found('episodes')).toEqual(['/trajectories']);
  expect(found('worlds')).toEqual(['/environments']);
  expect(found('licen')).toEqual(['/settings#licences']);
});
