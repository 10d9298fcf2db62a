// A button that changes something: enabled by permission, explained by a dialog, and told as done when the event of it comes.
import { type FormEvent, type ReactNode, useId, useState } from "react";
import type { LiveEvent } from "../api/types";
import { useStream } from "../live/queries";
import { Dialog, Trouble } from "../ui/parts";
import { type PlanWish, Preview, refusedFor, Spread, usePlan } from "../ui/plan";
import { say } from "../ui/toasts";
import { useObstacle } from "./obstacles";

export interface Field {
  name: string;
  label: string;
  required?: boolean;
  placeholder?: string;
  options?: string[];
  initial?: string;
  /** Several lines, such as a reason that needs them or a document. */
  long?: boolean;
}

export type Values = Record<string, string>;

export interface Act {
  label: string;
  title: string;
  /** What will happen, in one or two sentences. */
  says: ReactNode;
  permission: string;
  /** Why it would be refused now, as the server says; its button is disabled then. */
  refusal?: string | undefined;
  fields?: Field[];
  /** A dangerous act asks for this to be typed. */
  retype?: string;
  tone?: "bad" | "primary";
  /** For an act that changes the future: what to plan, so that it is seen before it is done. Null while it cannot be. */
  plan?: (values: Values) => PlanWish | null;
  /** The version that it takes away from where it runs, and what keeps that version from going anywhere. */
  against?: { deployment: string; tag: string; instead: Act };
  /** The event by which the server tells that it was done. */
  confirms?: (event: LiveEvent, values: Values) => boolean;
  /** Does it; what comes back is told. */
  run: (values: Values) => Promise<ReactNode>;
}

const CONFIRM_MS = 8000;
const WHY: Field = { name: "reason", label: "Reason", placeholder: "for those who ask later; may be left empty" };

/** Every act takes a reason; one that does not ask for it itself may be given it all the same. */
export function withReason(fields: Field[]): Field[] {
  return fields.some((field) => field.name === "reason") ? fields : [...fields, WHY];
}

export function ActButton({ act }: { act: Act }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const obstacle = useObstacle(act);
  const id = useId();
  return (
    <>
      <button
        type="button"
        className={act.tone}
        disabled={obstacle !== undefined}
        title={obstacle}
        aria-describedby={obstacle === undefined ? undefined : id}
        onClick={() => setOpen(true)}
      >
        {act.label}
      </button>
      {obstacle !== undefined && (
        <span id={id} className="hidden">
          {obstacle}
        </span>
      )}
      {isOpen && <ActDialog act={act} onClose={() => setOpen(false)} />}
    </>
  );
}

export function ActDialog({ act, onClose }: { act: Act; onClose: () => void }): ReactNode {
  const fields = withReason(act.fields ?? []);
  const stream = useStream();
  const obstacle = useObstacle(act);
  const [values, setValues] = useState<Values>(() => Object.fromEntries(fields.map((field) => [field.name, field.initial ?? ""])));
  const [typed, setTyped] = useState("");
  const [other, setOther] = useState<Act>();
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const heard: LiveEvent[] = [];
    let check = (): void => undefined;
    const leave = stream.onEvent((one) => {
      heard.push(one);
      check();
    });
    try {
      const told = await act.run(values);
      const confirms = act.confirms;
      onClose();
      if (confirms === undefined) return say(told);
      const came = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), CONFIRM_MS);
        check = () => {
          if (!heard.some((one) => confirms(one, values))) return;
          clearTimeout(timer);
          resolve(true);
        };
        check();
      });
      say(came ? told : <>{told} (accepted; its event has not come yet)</>);
    } catch (failure) {
      setError(failure as Error);
      setBusy(false);
    } finally {
      leave();
    }
  };
  const wish = act.plan?.(values) ?? null;
  const planned = usePlan(wish);
  const refusal = refusedFor(wish, planned);
  const against = act.against;
  if (other !== undefined) return <ActDialog key={other.title} act={other} onClose={onClose} />;
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
        {act.plan !== undefined && <Preview wish={wish} planned={planned} />}
        {planned.plan !== undefined && against !== undefined && (
          <Spread plan={planned.plan} deployment={against.deployment} tag={against.tag}>
            <span>
              <button type="button" className="bad" onClick={() => setOther(against.instead)}>
                {against.instead.label}
              </button>
            </span>
          </Spread>
        )}
        {act.retype !== undefined && (
          <label>
            <span>
              Type <code>{act.retype}</code> to go on
            </span>
            <input value={typed} required autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
          </label>
        )}
        <Trouble error={error} />
        {obstacle !== undefined && (
          <p className="soft" role="note">
            {act.label} {obstacle}.
          </p>
        )}
        <div className="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className={act.tone ?? "primary"}
            title={obstacle ?? refusal}
            disabled={obstacle !== undefined || refusal !== undefined || isBusy || (act.retype !== undefined && typed !== act.retype)}
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
  if (field.long) {
    return (
      <textarea
        value={value}
        required={field.required}
        placeholder={field.placeholder}
        rows={4}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  return (
    <input value={value} required={field.required} placeholder={field.placeholder} onChange={(event) => onChange(event.target.value)} />
  );
}
