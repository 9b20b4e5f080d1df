/** A host that goes away under an open page, and one that comes back with another token. The browser itself complains, so no console here. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, expectAccessible, serve, test } from './data-host.ts';

test('a page says that its host is gone, that one which came back wants its new link, and takes that link in the same tab', async ({
  browser,
}) => {
  test.setTimeout(90_000);
  const folder = mkdtempSync(join(tmpdir(), 'daydream-away-'));
  const first = await serve(folder);
  const context = await browser.newContext({ viewport: { width: 1024, height: 768 } });
  const page = await context.newPage();
  await page.goto(first.link);
  await expect(page.getByText('no model loaded')).toBeVisible();
  const banner = page.getByRole('alert').filter({ hasText: 'Try now' });
  await expect(banner).toHaveCount(0);

  await first.stop();
  await expect(banner).toContainText('The connection to the host is lost');
  await expect(page.getByText('AsyncIdQueue')).toHaveCount(0);
  const label = banner.getByText('Try now');
  expect(await label.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
  await expect(page.getByRole('contentinfo', { name: 'Status' })).toContainText('not connected');
  await expectAccessible(page);

  const second = await serve(folder, Number(new URL(first.link).port));
  await expect(banner).toContainText('does not accept this page', { timeout: 15_000 });
  await page.goto(second.link);
  await expect(banner).toHaveCount(0, { timeout: 15_000 });
  await expect(page).not.toHaveURL(/token/);
  await context.close();
  await second.stop();
  rmSync(folder, { recursive: true, force: true });
});
