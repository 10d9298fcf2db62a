import type { ReactNode } from "react";
export function Workloads(): ReactNode {
  return <h1>Workloads</h1>;
}
