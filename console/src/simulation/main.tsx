import { createRoot } from "react-dom/client";
import "../style.css";
import type { Simulation } from "./data";
import { SimulationPage } from "./page";

const root = document.getElementById("root");
const text = document.getElementById("data")?.textContent;
if (root !== null && text) {
  const data = JSON.parse(text) as Simulation;
  document.title = `${data.scenario} · Headgate simulation`;
  createRoot(root).render(<SimulationPage data={data} />);
}
