// What can be written at the caret of a YAML document, from the API's own description.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  required?: string[];
  readOnly?: boolean;
}

export interface Caret {
  /** Keys from the top to where the caret is; "[]" for an item of a list. */
  path: string[];
  /** What has been typed of the key or value so far. */
  partial: string;
  /** Set where a value is written: its key is the last of `path`. */
  isValue: boolean;
}

export interface Offer {
  text: string;
  detail: string;
  insert: string;
}

interface Line {
  /** Column of the key, behind the dashes of its item. */
  column: number;
  dashes: number[];
  key: string | null;
}

function read(text: string): Line {
  const [, before = "", rest = ""] = /^((?:\s|- )*)(.*)$/.exec(text) ?? [];
  const dashes = [...before.matchAll(/-/g)].map((dash) => dash.index);
  const key = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w$.-]+))\s*:(?:\s|$)/.exec(rest);
  return { column: before.length, dashes, key: key === null ? null : (key[1] ?? key[2] ?? key[3] ?? "") };
}

export function caretAt(text: string, offset: number): Caret | null {
  const lines = text.slice(0, offset).split("\n");
  const current = lines.pop() ?? "";
  if (/^\s*#/.test(current)) return null;
  const line = read(current);
  const typed = current.slice(line.column);
  const value = /^([\w$.-]+):\s+(.*)$/.exec(typed);
  if (value === null && !/^[\w$.-]*$/.test(typed)) return null;
  const path = above(lines, line);
  if (value !== null) return { path: [...path, value[1] as string], partial: value[2] as string, isValue: true };
  return { path, partial: typed, isValue: false };
}

/** The keys that a line stands below, by how far each is indented. */
function above(lines: string[], line: Line): string[] {
  const path: string[] = [];
  const open = [...line.dashes];
  let column = line.column;
  for (let index = lines.length - 1; index >= -1; index -= 1) {
    while (open.length > 0) {
      const dash = open.at(-1) as number;
      const found = index < 0 ? null : read(lines[index] as string);
      const isParent = found !== null && found.key !== null && found.column <= dash;
      if (!isParent && found !== null) break;
      path.unshift("[]");
      column = (open.pop() as number) + 1;
    }
    if (index < 0) break;
    const text = lines[index] as string;
    if (/^\s*(#.*)?$/.test(text) || /^---/.test(text)) continue;
    const found = read(text);
    if (found.key !== null && found.column < column) {
      path.unshift(found.key);
      column = found.column;
      open.push(...found.dashes);
    } else if (found.dashes.length > 0 && open.length === 0 && (found.dashes.at(-1) as number) < column && found.column === column) {
      open.push(...found.dashes);
    }
  }
  return path;
}

type Components = Record<string, Schema>;

/** A schema and everything it may be instead. */
function meanings(schema: Schema | undefined, components: Components, depth = 0): Schema[] {
  if (schema === undefined || depth > 8) return [];
  if (schema.$ref !== undefined) return meanings(components[schema.$ref.split("/").at(-1) as string], components, depth + 1);
  const others = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...others.flatMap((other) => meanings(other, components, depth + 1))];
}

function below(found: Schema[], key: string, components: Components): Schema[] {
  const next = found.map((schema) => (key === "[]" ? schema.items : schema.properties?.[key]));
  return next.flatMap((schema) => meanings(schema, components));
}

export function offers(root: Schema, components: Components, caret: Caret, taken: string[] = []): Offer[] {
  let found = meanings(root, components);
  for (const key of caret.path) found = below(found, key, components);
  const wanted = caret.partial.toLowerCase();
  const all = caret.isValue ? values(found) : keys(found, components).filter((offer) => !taken.includes(offer.text));
  const fitting = all.filter((offer) => offer.text.toLowerCase().includes(wanted) && offer.text !== caret.partial);
  return fitting.sort((a, b) => Number(b.text.toLowerCase().startsWith(wanted)) - Number(a.text.toLowerCase().startsWith(wanted)));
}

function keys(found: Schema[], components: Components): Offer[] {
  const offered = new Map<string, Offer>();
  for (const schema of found) {
    for (const [key, value] of Object.entries(schema.properties ?? {})) {
      if (value.readOnly || offered.has(key)) continue;
      const meant = meanings(value, components);
      const says = meant.map((one) => one.description).find((text) => text !== undefined) ?? "";
      offered.set(key, { text: key, detail: [kindOf(meant), says].filter(Boolean).join(": "), insert: `${key}:${ending(meant)}` });
    }
  }
  return [...offered.values()];
}

function kindOf(meant: Schema[]): string {
  const types = meant.flatMap((one) => one.type ?? []).filter((type) => type !== "null");
  return [...new Set(types)].join(" or ");
}

function ending(meant: Schema[]): string {
  const kind = kindOf(meant);
  return kind === "object" || kind === "array" ? "" : " ";
}

function values(found: Schema[]): Offer[] {
  const given = found.flatMap((schema) => [...(schema.enum ?? []), ...(schema.const === undefined ? [] : [schema.const])]);
  const flags = found.some((schema) => schema.type === "boolean") ? [true, false] : [];
  return [...new Set([...given, ...flags])].map((value) => ({ text: String(value), detail: "", insert: String(value) }));
}
