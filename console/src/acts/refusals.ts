// Why an order would be refused, as the server says.
import type { OrderOutlook } from "../api/types";

export const NOT_KNOWN = "it is not known yet whether that can be done";

/** What the server says of an order: why it would refuse it, undefined if it would not; null while it was not heard. */
export function refusalOf(orders: OrderOutlook[] | null, action: OrderOutlook["action"]): string | undefined {
  if (orders === null) return NOT_KNOWN;
  const found = orders.find((one) => one.action === action);
  return found === undefined ? "nothing can be ordered here any more" : (found.refusal ?? undefined);
}
