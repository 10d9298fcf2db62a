// What happens in a workspace, for the pages of one tab, and how fresh it is. A tab that nobody can see lets go of it: kept
// pages and forgotten tabs would else hold what others need.
import { serverNow } from "../api/client";
import type { LiveEvent } from "../api/types";
import { join, type Leave } from "./joining";
import type { Freshness, Told } from "./line";
import { FleetStore } from "./store";

/** Whoever only looks something up elsewhere finds the tab as it is. */
const HIDDEN_MS = 5 * 60_000;

type Listener = (event: LiveEvent) => void;

export class Stream {
  freshness: Freshness = { state: "connecting" };
  readonly store = new FleetStore();
  private leave: Leave | null = null;
  private wasLive = false;
  private isBack = false;
  private hiding: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();
  private readonly returns = new Set<() => void>();

  constructor(
    private readonly user: string,
    private readonly workspace: string,
  ) {}

  start(): void {
    window.addEventListener("pagehide", this.letGo);
    window.addEventListener("pageshow", this.takeUp);
    document.addEventListener("visibilitychange", this.seeWhetherSeen);
    this.takeUp();
  }

  stop(): void {
    window.removeEventListener("pagehide", this.letGo);
    window.removeEventListener("pageshow", this.takeUp);
    document.removeEventListener("visibilitychange", this.seeWhetherSeen);
    this.letGo();
  }

  onEvent(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Called when the line is there again and events may have been missed. */
  onReturn(listener: () => void): () => void {
    this.returns.add(listener);
    return () => this.returns.delete(listener);
  }

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  private readonly takeUp = (): void => {
    if (this.leave !== null) return;
    this.isBack = this.wasLive;
    this.leave = join(this.user, this.workspace, (told) => this.hear(told));
  };

  private readonly letGo = (): void => {
    clearTimeout(this.hiding);
    if (this.leave === null) return;
    this.leave();
    this.leave = null;
    if (this.freshness.state === "live") this.set({ state: "stale", since: serverNow() });
  };

  private readonly seeWhetherSeen = (): void => {
    clearTimeout(this.hiding);
    if (document.visibilityState === "hidden") this.hiding = setTimeout(this.letGo, HIDDEN_MS);
    else this.takeUp();
  };

  private set(freshness: Freshness): void {
    this.freshness = freshness;
    for (const watcher of this.watchers) watcher();
  }

  private hear(told: Told): void {
    if (told.type === "message") this.take(told.kind, JSON.parse(told.data));
    else if (told.type === "everything") {
      this.store.take("state", told.all);
      if (told.status !== undefined) this.store.take("status", told.status);
    } else if (told.type === "returned") this.cameBack();
    else if (told.type === "freshness") this.become(told.freshness);
  }

  private become(freshness: Freshness): void {
    // A line that is only being opened does not make what is shown any fresher.
    if (freshness.state === "connecting" && this.wasLive) return;
    this.set(freshness);
    if (freshness.state !== "live") return;
    this.wasLive = true;
    if (this.isBack) this.cameBack();
    this.isBack = false;
  }

  private cameBack(): void {
    for (const listener of this.returns) listener();
  }

  private take(kind: string, data: unknown): void {
    if (this.store.take(kind, data)) return;
    if (kind === "gap") return this.cameBack();
    for (const listener of this.listeners) listener(data as LiveEvent);
  }
}
