import type { ConfiguredServer } from "./server_entry.ts";

/** What a user who has configured nothing yet can try the gateway with. */
export const DEMO_SERVER: ConfiguredServer = {
  name: "weather",
  spec: { type: "demo" },
  source: { kind: "demo" },
  secrets: [],
};
