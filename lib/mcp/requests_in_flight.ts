import type { McpRequest } from "../core/client.ts";
import { FOLLOW_TASK } from "../core/stateless.ts";

/** What a server is working on for a client; list requests never ask or tell anything. */
export class RequestsInFlight extends Set<McpRequest> {
  /** The one that a message is most likely about. */
  get likeliest(): McpRequest | undefined {
    // A follower takes every message as a change of its task.
    const requests = [...this].filter(({ method }) => method !== FOLLOW_TASK);
    return requests.findLast(isTelling) ?? requests.at(-1);
  }

  /** Whether a message may be about one of several. */
  get isAmbiguous(): boolean {
    return [...this].filter(isTelling).length > 1;
  }
}

function isTelling({ method }: McpRequest): boolean {
  return !method.endsWith("/list") && method !== FOLLOW_TASK;
}
