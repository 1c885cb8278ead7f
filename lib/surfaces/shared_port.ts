import type { ClientPort } from "./surface.ts";

/** A client's port for one of several servers, whose news it gets as `outgoing` has them. */
export function portForServer(port: ClientPort, outgoing: (text: string) => string): ClientPort {
  return {
    client: port.client,
    principal: port.principal,
    push: (text) => port.push(outgoing(text)),
    ask: (text, id, onAnswer) => port.ask(text, id, onAnswer),
  };
}
