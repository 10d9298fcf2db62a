// The part of the time that somebody looks at, in the address: a link shows the same part to others.
import { useEffect, useState } from "react";
import { go, usePlace, withQuery } from "../router";
import type { Window } from "./window";

/** The address is written when the hand rests: browsers refuse more. */
const REST_MS = 400;

export function useAddressedWindow(name: "zoom" | "line"): [Window | null, (window: Window | null) => void] {
  const { query } = usePlace();
  const [window, setWindow] = useState<Window | null>(() => windowOf(query.get(name)));
  useEffect(() => {
    const timer = setTimeout(() => {
      const text = window === null ? null : `${Math.round(window.from)}-${Math.round(window.till)}`;
      if (text !== query.get(name)) go(withQuery({ [name]: text }), true);
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [window]);
  return [window, setWindow];
}

export function windowOf(text: string | null): Window | null {
  const found = /^(\d+)-(\d+)$/.exec(text ?? "");
  const [from, till] = [Number(found?.[1]), Number(found?.[2])];
  return found !== null && till > from ? { from, till } : null;
}
