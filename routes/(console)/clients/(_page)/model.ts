import type { Gateway } from "../../../../lib/gateway.ts";
import { type ClientSnippet, clientSnippets } from "../../../../lib/console/client_snippets.ts";
import { isIdle } from "../../../../lib/core/client.ts";
import type { ListedClient } from "../../../../lib/operations/clients.ts";
import type { ActivityRecord } from "../../../../lib/storage/activity_repository.ts";

export interface ClientsPage {
  connected: ListedClient[];
  /** Their sessions are open, but nothing has come from them for some time. */
  idle: ListedClient[];
  ended: ListedClient[];
  /** The most tokens that a client is listed: all bars are drawn to it. */
  mostTokens: number;
  endpoint: string;
  snippets: ClientSnippet[];
}

const MOST_SEARCHES = 20;

export async function clientsPage(
  gateway: Pick<Gateway, "clients" | "address" | "options" | "access">,
): Promise<ClientsPage> {
  const { clients, address } = gateway;
  const [listings, snippets] = await Promise.all([
    clients.listings(),
    clientSnippets(gateway, { kind: "all", name: "" }),
  ]);
  const all = clients.list().map((client): ListedClient => {
    const listing = listings.get(client.id);
    return listing ? { ...client, listing } : client;
  });
  return {
    connected: all.filter((client) => client.endedAt === undefined && !isIdle(client)),
    idle: all.filter((client) => isIdle(client)),
    ended: all.filter(({ endedAt }) => endedAt !== undefined),
    mostTokens: Math.max(1, ...all.map(({ listing }) => listing?.tokens ?? 0)),
    endpoint: `${address}/mcp`,
    snippets,
  };
}

export interface ClientPage {
  client: ListedClient;
  /** The newest first. */
  searches: ActivityRecord[];
}

export async function clientPage(
  { clients, calls }: Pick<Gateway, "clients" | "calls">,
  id: string,
): Promise<ClientPage | undefined> {
  const client = clients.list().find((client) => client.id === id);
  if (!client) return undefined;
  const searches: ActivityRecord[] = [];
  for await (const search of calls.calls({ session: id, kind: "search" })) {
    if (searches.push(search) === MOST_SEARCHES || search.at < client.connectedAt) break;
  }
  const listing = (await clients.listings()).get(id);
  return { client: listing ? { ...client, listing } : client, searches };
}
