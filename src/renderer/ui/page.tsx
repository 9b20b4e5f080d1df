import { Fragment, useEffect } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import styles from './page.module.css';

export interface Crumb {
  label: string;
  href: string;
}

/**
 * The head of every page: where one is, what it is called, what can be done. `layout`: `full` scrolls as a whole, `form` keeps
 * lines readable (880 px), `flush` gives the children all the room and no scrolling (lists, panes).
 */
export function Page({
  title,
  titleNode,
  breadcrumb = [],
  actions,
  layout = 'full',
  children,
}: {
  title: string;
  /** Beside the title: badges, a state. */
  titleNode?: ReactNode;
  breadcrumb?: readonly Crumb[];
  actions?: ReactNode;
  layout?: 'full' | 'form' | 'flush';
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Daydream`;
  }, [title]);
  const content = {
    full: styles.content,
    form: `${styles.content} ${styles.form}`,
    flush: `${styles.content} ${styles.flush}`,
  };
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div className={styles.heading}>
          {breadcrumb.map((crumb) => (
            <Fragment key={crumb.href}>
              <span className={styles.crumb}>
                <Link href={crumb.href}>{crumb.label}</Link>
              </span>
              <span className={styles.crumb} aria-hidden>
                /
              </span>
            </Fragment>
          ))}
          <h1 className={styles.title} title={title}>
            {title}
          </h1>
          {titleNode}
        </div>
        <div className={styles.actions}>{actions}</div>
      </header>
      <div className={content[layout]} data-page-scroll>
        {children}
      </div>
    </div>
  );
}
