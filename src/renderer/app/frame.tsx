import { Button } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { Suspense, useEffect, useRef } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { connection, useConnectionState } from '../rpc/client.ts';
import { useFollowStatus } from '../rpc/status.ts';
import { EmptyState, LoadingState } from '../ui/states.tsx';
import { Page } from '../ui/page.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { pages } from './features.ts';
import { KeysOverlay } from './keys-overlay.tsx';
import { Navigation } from './navigation.tsx';
import { Palette } from './palette.tsx';
import { StatusBar } from './status-bar.tsx';
import { useFollowTheme } from './use-theme.ts';
import styles from './frame.module.css';

/** Navigation, page, status bar: always in the same place. Dialogues of the whole application hang here too. */
export function Frame() {
  const [path, navigate] = useLocation();
  const main = useRef<HTMLElement>(null);
  useFollowStatus();
  useFollowTheme();
  useEffect(() => {
    window.daydream?.onNavigate((target) => {
      navigate(target);
    });
  }, [navigate]);
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <Navigation />
      <main id="main" className={styles.main} ref={main} tabIndex={-1}>
        <ErrorBoundary place={path}>
          <Suspense fallback={<PageLoading />}>
            <Switch>
              {pages.map(({ path: pattern, component: Component }) => (
                <Route key={pattern} path={pattern}>
                  {(params) => <Component params={params} />}
                </Route>
              ))}
              <Route>
                <NoPage />
              </Route>
            </Switch>
          </Suspense>
        </ErrorBoundary>
      </main>
      <StatusBar />
      <ConnectionBanner />
      <Palette />
      <KeysOverlay />
    </div>
  );
}

function PageLoading() {
  return (
    <div style={{ padding: '60px 20px' }}>
      <LoadingState rows={8} />
    </div>
  );
}

function NoPage() {
  const [path, navigate] = useLocation();
  return (
    <Page title="No such page">
      <EmptyState
        title={`There is nothing at ${path}`}
        action={
          <Button
            variant="default"
            onClick={() => {
              navigate('/');
            }}
          >
            Go to Home
          </Button>
        }
      >
        The address may come from another version, or from a data folder that this host does not have open.
      </EmptyState>
    </Page>
  );
}

function ConnectionBanner() {
  const state = useConnectionState();
  if (state === 'open' || state === 'connecting') return null;
  const words =
    state === 'lost'
      ? 'The connection to the host is lost. Jobs go on there if it still runs; what you see is as of the last answer. Connecting again…'
      : 'The host does not accept this page: its token is missing or old. Open the link that `daydream serve` prints.';
  return (
    <div className={styles.banner} role="alert">
      <IconPlugConnectedX size={18} aria-hidden />
      <span>{words}</span>
      <Button
        variant="default"
        onClick={() => {
          connection.retryNow();
        }}
      >
        Try now
      </Button>
    </div>
  );
}
