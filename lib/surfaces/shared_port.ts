import { withId } from "../core/rpc.ts";
import type { ClientPort } from "./surface.ts";

/**
 * A client's port for one of several servers. Each server counts its questions by itself, so their
 * ids are told apart by the server's name.
 */
export function portForServer(
  port: ClientPort,
  server: string,
  outgoing: (text: string) => string,
): ClientPort {
  const unique = (id: string | number) => `${server}/${typeof id}/${id}`;
  return {
    client: port.client,
    principal: port.principal,
    push: (text) => port.push(outgoing(text)),
    ask(text, id, onAnswer) {
      const own = unique(id);
      return port.ask(withId(text, id, own), own, (answer) => onAnswer(withId(answer, own, id)));
    },
    askedAs: (id) => port.askedAs(unique(id)),
  };
}
