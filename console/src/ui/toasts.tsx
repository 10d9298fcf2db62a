// What was done, said once, for who sees it and for who hears it.
import { type ReactNode, useEffect, useState } from "react";

const SHOWN_MS = 8000;
let listener: (text: ReactNode) => void = () => undefined;

export function say(text: ReactNode): void {
  if (text !== "" && text !== null) listener(text);
}

export function Toasts(): ReactNode {
  const [texts, setTexts] = useState<{ id: number; text: ReactNode }[]>([]);
  useEffect(() => {
    let id = 0;
    listener = (text) => {
      const mine = ++id;
      setTexts((old) => [...old.slice(-2), { id: mine, text }]);
      setTimeout(() => setTexts((old) => old.filter((one) => one.id !== mine)), SHOWN_MS);
    };
    return () => {
      listener = () => undefined;
    };
  }, []);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {texts.map((one) => (
        <p key={one.id}>{one.text}</p>
      ))}
    </div>
  );
}
