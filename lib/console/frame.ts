import type { Gateway } from "../compose.ts";
import { countStatus } from "./status_counts.ts";
import type { StatusCounts } from "./ui/live.ts";

/** What the rail and the top bar show on every page. */
export interface Frame {
  counts: StatusCounts;
  /** The port, or the host where the gateway stands behind a name. */
  place: string;
  address: string;
  isOptimizing: boolean;
  version: string;
}

export function frameOf(
  gateway: Pick<Gateway, "servers" | "problems" | "address" | "options" | "version">,
): Frame {
  const { address, options, version } = gateway;
  return {
    counts: countStatus(gateway.servers.list(), gateway.problems),
    place: placeOf(address),
    address,
    isOptimizing: options.options.enableOptimization,
    version,
  };
}

function placeOf(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  return url.port === "" ? url.host : `:${url.port}`;
}
