import type { Gateway } from "../compose.ts";
import { CLIENT_NAMES, CLIENTS } from "../config/client_configs.ts";
import { clientEntry, doorPath, ownCommand, snippet } from "../config/client_entry.ts";
import { type ClientSnippet, clientSnippets } from "./client_snippets.ts";

export type { ClientSnippet };

const NAME = "quartermaster";

/** What goes into each client's file, with the token it comes in with. */
export function tokenSnippets(
  gateway: Pick<Gateway, "address" | "options">,
  token: string,
): { door: string; snippets: ClientSnippet[] } {
  const { address, options } = gateway;
  const door = { kind: "all", name: "" } as const;
  const bearer = `Bearer ${token}`;
  const places = new Map(clientSnippets(gateway, door).map(({ client, place }) => [client, place]));
  const snippets = CLIENTS.map((id): ClientSnippet => {
    const client = CLIENT_NAMES[id];
    const entry = clientEntry(id, door, address, options);
    // One that is started as a program finds the gateway by itself, and hands the token on.
    const whole = "url" in entry
      ? { ...entry, headers: { Authorization: bearer } }
      : { ...entry, env: { QUARTERMASTER_TOKEN: token } };
    const command = ownCommand(id, "user", NAME, entry);
    return {
      client,
      place: places.get(client) ?? "",
      code: snippet({ section: id === "vscode" ? "servers" : "mcpServers" }, NAME, whole),
      ...(command === undefined
        ? {}
        : { command: `${command} --header "Authorization: ${bearer}"` }),
    };
  });
  return { door: new URL(doorPath(door), address).href, snippets };
}
