import * as z from "zod";
import { VERSION } from "../core/product.ts";
import { operation, READS } from "./operation.ts";

/** Which gateway answers at an address. */
export const GatewayStatus = z.object({
  version: z.string(),
  pid: z.int(),
  startedAt: z.number(),
  address: z.string(),
  servers: z.record(z.string(), z.number()).describe("Number of servers in each state"),
});
export type GatewayStatus = z.infer<typeof GatewayStatus>;

const show = operation({
  ...READS,
  name: "status.show",
  title: "Show the gateway's status",
  description: "Show the gateway's version, process, URL, and the number of servers in each state.",
  input: z.strictObject({}),
  output: GatewayStatus,
  isLive: true,
  run({ admin, address, startedAt }) {
    const states = Map.groupBy(admin.list(), ({ state }) => state);
    return {
      version: VERSION,
      pid: Deno.pid,
      startedAt,
      address,
      servers: Object.fromEntries(Array.from(states, ([state, list]) => [state, list.length])),
    };
  },
});

export const STATUS_OPERATIONS = { show };
