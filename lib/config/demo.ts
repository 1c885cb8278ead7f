import type { ConfiguredServer } from "./server_entry.ts";

/** What a user who has configured nothing yet can try the gateway with. */
export const DEMO_SERVER: ConfiguredServer = {
  name: "weather",
  spec: { type: "demo" },
  source: { kind: "demo" },
  secrets: [],
};

/** Whether the demo server is offered: only where no server is named anywhere, broken ones included. */
export function needsDemo(counts: { declared: number; stored: number }): boolean {
  return counts.declared === 0 && counts.stored === 0;
}
