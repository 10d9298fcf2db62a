// A button that changes something: enabled by permission, explained by a dialog, answered by the server.
import { type FormEvent, type ReactNode, useState } from "react";
import { useMay } from "../session";
import { Dialog, Trouble } from "../ui/parts";
import { say } from "../ui/toasts";

export interface Field {
  name: string;
  label: string;
  required?: boolean;
  placeholder?: string;
  options?: string[];
  initial?: string;
}

export interface Act {
  label: string;
  title: string;
  /** What will happen, in one or two sentences. */
  says: ReactNode;
  permission: string;
  fields?: Field[];
  /** A dangerous act asks for this to be typed. */
  retype?: string;
  tone?: "bad" | "primary";
  /** Does it; what comes back is told. */
  run: (values: Record<string, string>) => Promise<string>;
}

export function ActButton({ act }: { act: Act }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const may = useMay()(act.permission);
  return (
    <>
      <button
        type="button"
        className={act.tone}
        disabled={!may}
        title={may ? undefined : `needs the permission ${act.permission}`}
        onClick={() => setOpen(true)}
      >
        {act.label}
      </button>
      {isOpen && <ActDialog act={act} onClose={() => setOpen(false)} />}
    </>
  );
}

export function ActDialog({ act, onClose }: { act: Act; onClose: () => void }): ReactNode {
  const fields = act.fields ?? [];
  const [values, setValues] = useState(() => Object.fromEntries(fields.map((field) => [field.name, field.initial ?? ""])));
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      say(await act.run(values));
      onClose();
    } catch (failure) {
      setError(failure as Error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={act.title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div className="says">{act.says}</div>
        {fields.map((field) => (
          <label key={field.name}>
            {field.label}
            <Input field={field} value={values[field.name] ?? ""} onChange={(value) => setValues({ ...values, [field.name]: value })} />
          </label>
        ))}
        {act.retype !== undefined && (
          <label>
            Type <code>{act.retype}</code> to go on
            <input value={typed} required onChange={(event) => setTyped(event.target.value)} />
          </label>
        )}
        <Trouble error={error} />
        <div className="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className={act.tone ?? "primary"}
            disabled={isBusy || (act.retype !== undefined && typed !== act.retype)}
          >
            {act.label}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Input({ field, value, onChange }: { field: Field; value: string; onChange: (value: string) => void }): ReactNode {
  if (field.options !== undefined) {
    return (
      <select value={value} required={field.required} onChange={(event) => onChange(event.target.value)}>
        {field.options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    );
  }
  return (
    <input value={value} required={field.required} placeholder={field.placeholder} onChange={(event) => onChange(event.target.value)} />
  );
}
