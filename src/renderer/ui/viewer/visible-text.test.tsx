import { expect, it } from 'vitest';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { MonoText } from './mono-text.tsx';
import { visibleText } from './visible-text.tsx';

it('shows control, zero-width and direction characters by their number', () => {
  const { container } = renderUi(<p>{visibleText('a\u{1b}[0m\u{7}b\u{200b}c\u{202e}d')}</p>);
  expect(container.querySelector('p')?.textContent).toBe('aU+001B[0mU+0007bU+200BcU+202Ed');
  expect(container.querySelectorAll('span')).toHaveLength(4);
});

it('leaves lines, tabs and ordinary letters of any script as they are', () => {
  const text = 'Zeile 1\n\tžluťoučký 猫 👩‍🔬';
  expect(visibleText(text)).toBe(text);
});

it('is what every text of a model or a world goes through, also beside the matches of a search', () => {
  const { container } = renderUi(<MonoText text={'open\u{0} the drawer\u{fffd}'} search="drawer" />);
  expect(container.querySelector('pre')?.textContent).toBe('openU+0000 the drawer\u{fffd}');
  expect(container.querySelector('mark')?.textContent).toBe('drawer');
  expect(container.querySelector('[title="Bytes that are no character"]')).not.toBeNull();
});
