import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { fieldHints } from "./fields.ts";
import { MANAGES, operation, READS_GUARDED } from "./operation.ts";

const Client = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string().optional(),
  protocolVersion: z.string(),
  transport: z.enum(["http", "stdio"]),
  endpoint: z.string(),
  from: z.string().optional(),
  principal: z.string().describe("The name of its token"),
  connectedAt: z.number(),
  lastSeenAt: z.number(),
  idleSince: z.number().optional()
    .describe("When its last connection closed; it may have quit without ending its session"),
  endedAt: z.number().optional().describe("When it disconnected"),
  calls: z.int(),
  errors: z.int(),
  searches: z.int(),
  lastCall: z.object({ server: z.string(), tool: z.string(), at: z.number(), ok: z.boolean() })
    .optional(),
});

const Listing = z.object({
  tools: z.int(),
  tokens: z.number(),
  parts: z.array(z.object({
    server: z.string().optional().describe("Missing for the gateway's own tools"),
    tools: z.int(),
    tokens: z.number(),
  })),
  limit: z.int().optional().describe("The client's documented tool limit, if known"),
});

export const ListedClient = Client.extend({
  listing: Listing.optional().describe("The tools listed to the client's model now"),
});
export type ListedClient = z.infer<typeof ListedClient>;

const list = operation({
  ...READS_GUARDED,
  name: "client.list",
  title: "List clients",
  description:
    "List connected MCP clients with the tools listed to each and their token cost, then clients that disconnected within the last hour.",
  input: z.strictObject({}),
  output: z.object({ clients: z.array(ListedClient) }),
  isLive: true,
  cli: "client list",
  async run({ clients }) {
    const listings = await clients.listings();
    return {
      clients: clients.list().map((client): ListedClient => {
        const listing = listings.get(client.id);
        return listing ? { ...client, listing } : client;
      }),
    };
  },
});

const disconnect = operation({
  ...MANAGES,
  name: "client.disconnect",
  title: "Disconnect a client",
  description: "End a client's session. The client may reconnect; to block it, revoke its token.",
  input: z.strictObject({
    client: z.string().describe("The client's id").register(fieldHints, { completes: "client" }),
  }),
  output: Client,
  effect: "destroy",
  isLive: true,
  cli: "client disconnect CLIENT",
  confirm: ({ client }) =>
    `Disconnect client ${client}? Its calls in progress are canceled. It may reconnect.`,
  async run({ clients, settings }, { client: id }) {
    const ended = await clients.disconnect(id);
    if (!ended) {
      throw new GatewayError("NOT_FOUND", {
        message: `There is no connected client "${id.slice(0, 40)}"`,
        next: [{ label: "See the connected clients", operation: "client.list" }],
      });
    }
    const { name, endpoint, principal } = ended;
    settings.onAudit({
      action: "client.disconnect",
      subject: id,
      before: { name, endpoint, principal },
    });
    return ended;
  },
  text: ({ name, id }) => `Disconnected ${name} (${id}).`,
});

export const CLIENT_OPERATIONS = { list, disconnect };
