import type { McpRequest } from "../core/client.ts";

/** What a server is working on for a client; list requests never ask or tell anything. */
export class RequestsInFlight extends Set<McpRequest> {
  /** The one that a message is most likely about. */
  get likeliest(): McpRequest | undefined {
    const requests = [...this];
    return requests.findLast(isTelling) ?? requests.at(-1);
  }

  /** Whether a message may be about one of several. */
  get isAmbiguous(): boolean {
    return [...this].filter(isTelling).length > 1;
  }
}

function isTelling({ method }: McpRequest): boolean {
  return !method.endsWith("/list");
}
