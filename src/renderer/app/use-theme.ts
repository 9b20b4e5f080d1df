import { useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { orpc } from '../rpc/client.ts';

/** The setting lives with the host, so that every window agrees; Mantine's copy in this browser only avoids a flash at start. */
export function useFollowTheme(): void {
  const { data } = useQuery(orpc.system.settings.get.queryOptions({ staleTime: 60_000 }));
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const wanted = data === undefined ? null : data.theme === 'system' ? 'auto' : data.theme;
  const apply = useEffectEvent((scheme: 'auto' | 'light' | 'dark') => {
    if (scheme !== colorScheme) setColorScheme(scheme);
  });
  useEffect(() => {
    if (wanted !== null) apply(wanted);
  }, [wanted]);
}
