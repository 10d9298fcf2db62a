// What people wrote, such as names and reasons: it may be of any direction and length, and changes nothing around it.
import { type ReactNode, useState } from "react";
import { firstLine } from "../words";
import { Sentence } from "./parts";

/** In its own direction, whatever marks are in it. */
export function Written({ text }: { text: ReactNode }): ReactNode {
  return text === null || text === undefined || text === "" ? null : <bdi>{text}</bdi>;
}

/** One line of it; the rest for whoever asks. */
export function Brief({ text, most = 200 }: { text: string; most?: number }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const short = firstLine(text, most);
  if (short === text.trim()) return <Sentence text={text} />;
  return (
    <>
      <Sentence text={isWhole ? text : short} />{" "}
      <button type="button" className="quiet more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
        {isWhole ? "less" : "more"}
      </button>
    </>
  );
}
