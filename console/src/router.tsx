// Every state of a page has an address. Links are links: they open in a new tab, and go back.
import { type MouseEvent, type ReactNode, useSyncExternalStore } from "react";

const changed = new Set<() => void>();

function tell(): void {
  for (const one of changed) one();
}

window.addEventListener("popstate", tell);

function subscribe(listener: () => void): () => void {
  changed.add(listener);
  return () => changed.delete(listener);
}

export interface Place {
  /** Decoded segments of the path. */
  segments: string[];
  query: URLSearchParams;
}

export function usePlace(): Place {
  const text = useSyncExternalStore(subscribe, () => window.location.pathname + window.location.search);
  const [path, query] = text.split("?", 2);
  const segments = (path ?? "").split("/").filter(Boolean).map(decode);
  return { segments, query: new URLSearchParams(query ?? "") };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export function to(...segments: string[]): string {
  return `/${segments.map(encodeURIComponent).join("/")}`;
}

export const WORKSPACE = "workspace";
let workspace: string | null = null;

/** Every address names its workspace from now on; null for the one that needs no name. */
export function stayIn(name: string | null): void {
  workspace = name;
}

/** With the workspace, so that whoever is sent the address sees the same. */
export function addressed(href: string): string {
  const [path, text] = href.split("?", 2);
  const query = new URLSearchParams(text ?? "");
  if (workspace === null) query.delete(WORKSPACE);
  else query.set(WORKSPACE, workspace);
  const rest = query.toString();
  return `${path ?? ""}${rest ? `?${rest}` : ""}`;
}

export function go(to: string, replace = false): void {
  const href = addressed(to);
  if (replace) window.history.replaceState(null, "", href);
  else window.history.pushState(null, "", href);
  tell();
  if (!replace) window.scrollTo(0, 0);
}

/** The same page with other parameters; empty ones are left out. */
export function withQuery(changes: Record<string, string | null>): string {
  const query = new URLSearchParams(window.location.search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  return window.location.pathname + (text ? `?${text}` : "");
}

export function Link(properties: { href: string; children: ReactNode; className?: string; title?: string; current?: boolean }): ReactNode {
  const { href, children, className, title, current } = properties;
  const follow = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(href);
  };
  return (
    <a href={addressed(href)} className={className} title={title} onClick={follow} aria-current={current ? "page" : undefined}>
      <bdi>{children}</bdi>
    </a>
  );
}
