import { Component } from 'react';
import type { ReactNode } from 'react';
import { ErrorState } from '../ui/states.tsx';

/** A fault of one page leaves the frame alive; another page or `Try again` clears it. */
export class ErrorBoundary extends Component<{ place: string; children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override componentDidUpdate(previous: { place: string }): void {
    if (previous.place !== this.props.place && this.state.error !== null) this.setState({ error: null });
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <div style={{ padding: 20 }}>
        <ErrorState
          title="This page met a fault. Nothing stored is touched; running jobs go on."
          error={this.state.error}
          onRetry={() => {
            this.setState({ error: null });
          }}
        />
      </div>
    );
  }
}
