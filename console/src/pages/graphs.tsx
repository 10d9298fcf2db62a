import type { ReactNode } from "react";
export function Graphs(): ReactNode {
  return <h1>Graphs</h1>;
}
