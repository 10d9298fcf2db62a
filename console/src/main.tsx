import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { SessionGate } from "./session";
import "./style.css";

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <SessionGate>
        <App />
      </SessionGate>
    </StrictMode>,
  );
}
