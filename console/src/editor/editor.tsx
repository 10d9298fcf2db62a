// A text field for YAML: Ctrl-Space or typing offers what the schema allows here, Tab indents only while it is asked to.
import { type KeyboardEvent, type ReactNode, useId, useMemo, useRef, useState } from "react";
import { caretAt, offers, type Offer, type Schema } from "./complete";

const MOST = 9;

export interface EditorProperties {
  label: string;
  value: string;
  onChange: (value: string) => void;
  root?: Schema | undefined;
  components?: Record<string, Schema> | undefined;
  rows?: number;
}

export function Editor({ label, value, onChange, root, components, rows = 22 }: EditorProperties): ReactNode {
  const element = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const [caret, setCaret] = useState<number | null>(null);
  const [chosen, setChosen] = useState(0);
  const shown = useMemo<Offer[]>(() => {
    const place = caret === null || root === undefined ? null : caretAt(value, caret);
    return place === null || root === undefined ? [] : offers(root, components ?? {}, place).slice(0, MOST);
  }, [caret, value, root, components]);
  const isOpen = shown.length > 0;
  const take = (offer: Offer): void => {
    const field = element.current;
    if (field === null || caret === null) return;
    const partial = caretAt(value, caret)?.partial ?? "";
    field.focus();
    field.setRangeText(offer.insert, caret - partial.length, caret, "end");
    onChange(field.value);
    setCaret(null);
  };
  const steer = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    const field = event.currentTarget;
    if (event.key === " " && event.ctrlKey) setCaret(field.selectionStart);
    else if (isOpen && event.key === "ArrowDown") setChosen((chosen + 1) % shown.length);
    else if (isOpen && event.key === "ArrowUp") setChosen((chosen + shown.length - 1) % shown.length);
    else if (isOpen && (event.key === "Enter" || event.key === "Tab")) take(shown[chosen] ?? (shown[0] as Offer));
    else if (isOpen && event.key === "Escape") setCaret(null);
    else if (event.key === "Enter") indent(field, onChange);
    else return;
    event.preventDefault();
  };
  return (
    <div className="editor">
      <textarea
        ref={element}
        aria-label={label}
        aria-describedby={`${id}-help`}
        aria-autocomplete="list"
        aria-controls={isOpen ? `${id}-list` : undefined}
        aria-activedescendant={isOpen ? `${id}-${chosen}` : undefined}
        spellCheck={false}
        autoCapitalize="off"
        rows={rows}
        value={value}
        onKeyDown={steer}
        onBlur={() => setCaret(null)}
        onClick={() => setCaret(null)}
        onChange={(event) => {
          onChange(event.target.value);
          setChosen(0);
          setCaret(event.target.selectionStart);
        }}
      />
      {isOpen && (
        <ul id={`${id}-list`} role="listbox" aria-label="What can stand here" className="offers">
          {shown.map((offer, index) => (
            <li
              key={offer.text}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                take(offer);
              }}
            >
              <b>{offer.text}</b> <small>{offer.detail}</small>
            </li>
          ))}
        </ul>
      )}
      <small id={`${id}-help`} className="soft">
        {root === undefined ? "" : "Ctrl-Space offers what can stand here."}
      </small>
    </div>
  );
}

/** A new line begins where the one before began, or deeper below a key without a value. */
function indent(field: HTMLTextAreaElement, onChange: (value: string) => void): void {
  const before = field.value.slice(0, field.selectionStart).split("\n").at(-1) ?? "";
  const [, spaces = "", dash = ""] = /^(\s*)(- )?/.exec(before) ?? [];
  const deeper = /:\s*$/.test(before) ? "  " : "";
  field.setRangeText(`\n${spaces}${dash.replace("-", " ")}${deeper}`, field.selectionStart, field.selectionEnd, "end");
  onChange(field.value);
}
