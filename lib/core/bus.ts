import type { EventEmitter } from "node:events";
import type { ServerStatus } from "./server.ts";

/** What modules tell those above them, which are built later. */
export interface GatewayEvents {
  serverStatus: [ServerStatus];
  /** A server is no longer wanted; its name. */
  serverRemoved: [string];
  /** The served tools of a server, or those that wait for review, may have changed. */
  toolsReviewed: [string];
  /** The stored record of a server's tools changed. */
  toolsRecorded: [string];
  /** What people say about tools changed: categories, descriptions, examples. */
  toolMetadataChanged: [];
  /** The rights of these owners changed or ended. */
  rightsChanged: [ReadonlySet<string>];
  /** Optimization was switched on or off. */
  optimizationSwitched: [];
}

export type Bus = EventEmitter<GatewayEvents>;
