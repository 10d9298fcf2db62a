// Runs beside the tabs, once for all of them, and holds their line to the server.
import { whenSessionEnds } from "../api/client";
import { type Asked, Exchange } from "./exchange";

const exchange = new Exchange();
whenSessionEnds(() => exchange.sessionEnded());

self.addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  port.onmessage = ({ data }: MessageEvent<Asked>) => exchange.hear(port, data);
});
