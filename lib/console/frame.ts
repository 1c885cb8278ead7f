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
  /** What the page hears everything after; undefined where it was not made as others are. */
  madeAt?: string;
}

export function frameOf(
  gateway: Pick<
    Gateway,
    "servers" | "problems" | "address" | "version" | "isOptimizing" | "toolsets"
  >,
  madeAt?: string,
  security = 0,
): Frame {
  const { address, version } = gateway;
  return {
    counts: {
      ...countStatus(gateway.servers.list(), gateway.problems),
      toolsets: gateway.toolsets.toolsets.list().length,
      security,
    },
    place: placeOf(address),
    address,
    isOptimizing: gateway.isOptimizing(),
    version,
    ...(madeAt === undefined ? {} : { madeAt }),
  };
}

function placeOf(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  return url.port === "" ? url.host : `:${url.port}`;
}
