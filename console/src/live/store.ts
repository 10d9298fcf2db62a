// What there is, normalised: the stream gives all of it once and patches it from then on. Nothing here is asked for.
import type { LiveEvent, SeenBudget, SeenGroup, SeenTarget, Status } from "../api/types";

export interface Tables {
  targets: Map<string, SeenTarget>;
  groups: Map<string, SeenGroup>;
  budgets: Map<string, SeenBudget>;
}

export type TableName = keyof Tables;
export type Row = SeenTarget | SeenGroup | SeenBudget;

/** One thing as it is from now on; null when it is gone. */
export interface Change {
  table: TableName;
  name: string;
  row: Row | null;
}

export interface SeenObject {
  kind: string;
  name: string;
  object: unknown;
}

/** Everything at once, as `event: state` has it. */
export type Everything = { [table in TableName]: Row[] };

export function emptyTables(): Tables {
  return { targets: new Map(), groups: new Map(), budgets: new Map() };
}

export function keyOf(table: TableName, row: Row): string {
  return table === "groups" ? (row as SeenGroup).id : (row as SeenTarget).name;
}

export function tablesOf(all: Everything): Tables {
  const found = emptyTables();
  for (const table of Object.keys(found) as TableName[]) {
    const rows = found[table] as Map<string, Row>;
    for (const row of all[table]) rows.set(keyOf(table, row), row);
  }
  return found;
}

/** Whether the set of names is another one afterwards, and not only what they stand for. */
export function patch(tables: Tables, change: Change): boolean {
  const rows = tables[change.table] as Map<string, Row>;
  const was = rows.has(change.name);
  if (change.row === null) rows.delete(change.name);
  else rows.set(change.name, change.row);
  return was !== (change.row !== null);
}

export class FleetStore {
  tables: Tables = emptyTables();
  status: Status | undefined;
  /** Grows with every patch, so that whoever looks knows that something is otherwise. */
  version = 0;
  /** Grows when targets come or go: until then nobody need be put in order again. */
  names = 0;
  isLoaded = false;
  private readonly listeners = new Set<() => void>();
  private readonly objectListeners = new Set<(objects: SeenObject[]) => void>();
  private readonly changeListeners = new Set<(changes: Change[]) => void>();
  private isTelling = false;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  onObjects(listener: (objects: SeenObject[]) => void): () => void {
    this.objectListeners.add(listener);
    return () => this.objectListeners.delete(listener);
  }

  onChanges(listener: (changes: Change[]) => void): () => void {
    this.changeListeners.add(listener);
    return () => this.changeListeners.delete(listener);
  }

  /** Whether the tables or the status are patched by such a message. */
  static keeps(kind: string): boolean {
    return kind === "state" || kind === "changes" || kind === "status";
  }

  /** Whether the message was one of those that patch; others are events. */
  take(kind: string, data: unknown): boolean {
    if (kind === "state") {
      this.tables = tablesOf(data as Everything);
      this.names += 1;
      this.isLoaded = true;
    } else if (kind === "changes") {
      const changes = data as Change[];
      let hasNames = false;
      for (const change of changes) hasNames = patch(this.tables, change) || hasNames;
      if (hasNames) this.names += 1;
      for (const listener of this.changeListeners) listener(changes);
    } else if (kind === "status") {
      this.status = data as Status;
    } else if (kind === "objects") {
      for (const listener of this.objectListeners) listener(data as SeenObject[]);
      return true;
    } else {
      return false;
    }
    this.version += 1;
    this.tell();
    return true;
  }

  /** However many messages come in one turn, those who look are told once, before the next frame is drawn. */
  private tell(): void {
    if (this.isTelling) return;
    this.isTelling = true;
    queueMicrotask(() => {
      this.isTelling = false;
      for (const listener of this.listeners) listener();
    });
  }
}

/** A job as its events tell of it, laid over what is known of it. */
export function jobOf(event: LiveEvent): { id: string } & Record<string, unknown> {
  return { id: event.name, ...event.data };
}
