// One line for all tabs that look at the same workspace as the same person: a browser has six connections to a server, and
// a seventh tab would wait for ever for its first answer.
import { Line, type Open, type Told } from "./line";
import { FleetStore } from "./store";

/** What a tab asks of the exchange. */
export type Asked = { type: "join"; user: string; workspace: string } | { type: "leave" };

/** A tab, as far as it is told things. */
export interface Listener {
  postMessage: (told: Told) => void;
}

/** A line, what it gave so far, and who listens. */
class Shared {
  readonly listeners = new Set<Listener>();
  private readonly store = new FleetStore();
  private readonly line: Line;

  constructor(workspace: string, open: Open | undefined) {
    this.line = new Line(workspace, (told) => this.pass(told), open);
    this.line.start();
  }

  /** Who comes later is given what the others have. */
  add(listener: Listener): void {
    const { tables, status } = this.store;
    if (this.store.isLoaded) {
      const all = { targets: [...tables.targets.values()], groups: [...tables.groups.values()], budgets: [...tables.budgets.values()] };
      listener.postMessage({ type: "everything", all, status });
    }
    listener.postMessage({ type: "freshness", freshness: this.line.freshness });
    this.listeners.add(listener);
  }

  /** Whether nobody is left. */
  remove(listener: Listener): boolean {
    if (!this.listeners.delete(listener) || this.listeners.size > 0) return false;
    this.line.stop();
    return true;
  }

  pass(told: Told): void {
    if (told.type === "message" && FleetStore.keeps(told.kind)) this.store.take(told.kind, JSON.parse(told.data));
    for (const listener of this.listeners) listener.postMessage(told);
  }
}

export class Exchange {
  private readonly shared = new Map<string, Shared>();

  constructor(private readonly open?: Open) {}

  hear(listener: Listener, asked: Asked): void {
    this.leave(listener);
    if (asked.type === "leave") return;
    const key = JSON.stringify([asked.user, asked.workspace]);
    let found = this.shared.get(key);
    if (found === undefined) this.shared.set(key, (found = new Shared(asked.workspace, this.open)));
    found.add(listener);
  }

  /** The cookie is everybody's. */
  sessionEnded(): void {
    for (const one of this.shared.values()) one.pass({ type: "sessionEnded" });
  }

  private leave(listener: Listener): void {
    for (const [key, one] of this.shared) if (one.remove(listener)) this.shared.delete(key);
  }
}
