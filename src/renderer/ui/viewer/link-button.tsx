import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** A button that goes somewhere: a real link, so it opens in a new tab too. */
export function LinkButton({
  href,
  variant = 'default',
  icon,
  children,
}: {
  href: string;
  variant?: 'default' | 'filled';
  icon?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Button component={Link} href={href} variant={variant} leftSection={icon}>
      {children}
    </Button>
  );
}
