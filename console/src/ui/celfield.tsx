// A filter in CEL: names are completed while one types, and a mistake is shown where it is.
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Refused } from "../api/client";

export interface Words {
  fields: string[];
  values: string[];
}

const FUNCTIONS = ["startsWith('", "endsWith('", "contains('", "matches('"];

/** What may follow what stands before the caret, and how much of that it replaces. */
export function completions(text: string, caret: number, words: Words): { from: number; found: string[] } {
  const before = text.slice(0, caret);
  const quoted = /'([^']*)$/.exec(before);
  const quotes = before.split("'").length - 1;
  if (quoted !== null && quotes % 2 === 1) {
    const begun = quoted[1] ?? "";
    return { from: caret - begun.length, found: words.values.filter((one) => one.startsWith(begun) && one !== begun).map((one) => `${one}'`) };
  }
  const begun = /[\w.]*$/.exec(before)?.[0] ?? "";
  const method = /^(.*\w)\.(\w*)$/.exec(begun);
  if (method !== null && words.fields.includes(method[1] ?? "")) {
    const part = method[2] ?? "";
    return { from: caret - part.length, found: FUNCTIONS.filter((one) => one.startsWith(part)) };
  }
  return { from: caret - begun.length, found: begun ? words.fields.filter((one) => one.startsWith(begun) && one !== begun) : [] };
}

/** Where the server says that the mistake is: "(line 1, column 14)". */
export function columnOf(message: string): number | null {
  const found = /\(line 1, column (\d+)\)/.exec(message);
  return found === null ? null : Number(found[1]) - 1;
}

const MOST = 8;

export function CelField(properties: { value: string; words: Words; error: Error | undefined; onSubmit: (text: string) => void }): ReactNode {
  const { value, words, error, onSubmit } = properties;
  const [text, setText] = useState(value);
  const [caret, setCaret] = useState<number | null>(null);
  const [chosen, setChosen] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => setText(value), [value]);
  const message = error instanceof Refused && error.status < 500 ? error.message : undefined;
  const column = message === undefined ? null : columnOf(message);
  useEffect(() => {
    if (column === null || document.activeElement !== input.current) return;
    input.current?.setSelectionRange(column, column + 1);
  }, [column, message]);
  const { from, found } = caret === null ? { from: 0, found: [] } : completions(text, caret, words);
  const shown = found.slice(0, MOST);
  const take = (one: string): void => {
    const next = text.slice(0, from) + one + text.slice(caret ?? text.length);
    setText(next);
    setChosen(-1);
    requestAnimationFrame(() => {
      input.current?.setSelectionRange(from + one.length, from + one.length);
      setCaret(from + one.length);
    });
  };
  const steer = (event: KeyboardEvent): void => {
    const one = shown[chosen] ?? (event.key === "Tab" ? shown[0] : undefined);
    if (event.key === "ArrowDown" && shown.length > 0) setChosen((chosen + 1) % shown.length);
    else if (event.key === "ArrowUp" && shown.length > 0) setChosen((chosen <= 0 ? shown.length : chosen) - 1);
    else if ((event.key === "Enter" || event.key === "Tab") && one !== undefined && !event.shiftKey) take(one);
    else if (event.key === "Enter") {
      setCaret(null);
      onSubmit(text.trim());
    }
    else if (event.key === "Escape" && caret !== null) setCaret(null);
    else return;
    event.preventDefault();
  };
  return (
    <div className="cel">
      <input
        ref={input}
        type="text"
        role="combobox"
        spellCheck={false}
        autoComplete="off"
        aria-label="Filter in CEL"
        aria-expanded={shown.length > 0}
        aria-controls={id}
        aria-invalid={message !== undefined}
        aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
        placeholder="environment.name == 'prod' && resource.metadata['zone'] == 'a'"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setCaret(event.target.selectionStart);
          setChosen(-1);
        }}
        onKeyDown={steer}
        onBlur={() => {
          setCaret(null);
          if (text.trim() !== value) onSubmit(text.trim());
        }}
      />
      {shown.length > 0 && (
        <ul id={id} role="listbox" aria-label="Completions">
          {shown.map((one, index) => (
            <li
              key={one}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                take(one);
              }}
            >
              <code>{one}</code>
            </li>
          ))}
        </ul>
      )}
      {message !== undefined && (
        <pre className="trouble" role="alert">
          {column === null ? message : `${text}\n${" ".repeat(column)}^\n${message.split("\n")[0]}`}
        </pre>
      )}
    </div>
  );
}
