import { MantineProvider } from '@mantine/core';
import { cleanup, render } from '@testing-library/react';
import type { RenderResult } from '@testing-library/react';
import type { ReactElement } from 'react';
import { afterEach } from 'vitest';

afterEach(cleanup);

/** For component tests: what the frame puts around every page. */
export function renderUi(element: ReactElement): RenderResult {
  return render(element, {
    wrapper: ({ children }) => <MantineProvider env="test">{children}</MantineProvider>,
  });
}
