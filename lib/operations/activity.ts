import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { csvField } from "../core/text.ts";
import { ActivityEntry, type ActivityRecord } from "../storage/activity_repository.ts";
import { fieldHints } from "./fields.ts";
import { DESTROYS, operation, READS_GUARDED } from "./operation.ts";

const TYPES = { csv: "text/csv", ndjson: "application/x-ndjson" };
const MAX_TEXT = 500;
/** How many calls are written to a file at a time. */
const AT_ONCE = 500;

const FILTER = {
  server: z.string().optional().describe("Only calls of this server")
    .register(fieldHints, { completes: "server" }),
  tool: z.string().optional().describe("Only calls of this tool, by the server's own name for it"),
  client: z.string().optional().describe("Only calls by this client: its name and version"),
  endpoint: z.string().optional().describe("Only calls at this endpoint"),
  session: z.string().optional().describe("Only calls of this session, by the client's id"),
  kind: z.enum(["call", "search", "missed"]).optional()
    .describe("Only calls, searches, or searches that found nothing"),
  status: z.enum(["ok", "error"]).optional(),
  text: z.string().max(MAX_TEXT).optional().describe("Only calls that contain all of these words"),
  before: z.string().optional().describe("Only calls before the one with this id"),
  after: z.string().optional().describe("Only calls after the one with this id"),
};

const Call = ActivityEntry.extend({ id: z.string() });

const list = operation({
  ...READS_GUARDED,
  name: "activity.list",
  title: "List calls and searches",
  description: "List tool calls and tool searches, newest first.",
  input: z.strictObject({
    ...FILTER,
    limit: z.int().min(1).max(500).default(100).describe("Maximum number of entries: 1 to 500"),
  }),
  output: z.object({ calls: z.array(Call), hasOlder: z.boolean() }),
  async run({ calls }, { limit, before, after, ...filter }) {
    const taken: ActivityRecord[] = [];
    for await (const call of calls.calls(filter, { before, after })) {
      if (taken.length === limit) return { calls: taken, hasOlder: true };
      taken.push(call);
    }
    return { calls: taken, hasOlder: false };
  },
});

const show = operation({
  ...READS_GUARDED,
  name: "activity.show",
  title: "Show a call",
  description: "Show a call, with its request and response while they are stored.",
  input: z.strictObject({ id: z.string().describe("The call's id") }),
  output: z.object({
    call: Call,
    view: z.object({
      request: z.object({
        arguments: z.record(z.string(), z.unknown()).optional(),
        text: z.string(),
        isCut: z.boolean(),
      }),
      response: z.object({ words: z.array(z.string()), text: z.string(), isCut: z.boolean() }),
    }).optional(),
  }),
  async run({ calls }, { id }) {
    const found = await calls.find(id);
    if (found) return found;
    throw new GatewayError("NOT_FOUND", {
      message: "Call not found: it may have been deleted",
      next: [{ label: "See all calls", operation: "activity.list" }],
    });
  },
});

const exportCalls = operation({
  ...READS_GUARDED,
  name: "activity.export",
  title: "Export calls and searches",
  description: "Export tool calls and tool searches as a file, newest first.",
  input: z.strictObject({ ...FILTER, format: z.enum(["csv", "ndjson"]).default("csv") }),
  output: { file: TYPES.csv },
  run({ calls }, { format, before, after, ...filter }) {
    const found = calls.calls(filter, { before, after });
    const lines = format === "csv" ? csvLines(found) : jsonLines(found);
    return {
      fileName: `activity.${format}`,
      contentType: `${TYPES[format]}; charset=utf-8`,
      body: ReadableStream.from(inPieces(lines)).pipeThrough(new TextEncoderStream()),
    };
  },
});

const clear = operation({
  ...DESTROYS,
  name: "activity.clear",
  title: "Clear all calls",
  description: "Delete the record of all calls, with their requests and responses.",
  input: z.strictObject({}),
  output: z.object({ cleared: z.literal(true) }),
  idempotent: true,
  confirm: () => "Delete the record of all calls? This cannot be undone.",
  async run({ clearCalls }) {
    await clearCalls();
    return { cleared: true as const };
  },
  text: () => "Cleared all calls.",
});

export const ACTIVITY_OPERATIONS = { list, show, exportCalls, clear };

const COLUMNS: Record<string, (call: ActivityRecord) => string | number | undefined> = {
  time: ({ at }) => new Date(at).toISOString(),
  id: ({ id }) => id,
  client: ({ client }) => client,
  endpoint: ({ endpoint }) => endpoint,
  session: ({ session }) => session,
  server: ({ server }) => server,
  tool: ({ tool }) => tool,
  status: ({ ok }) => ok ? "ok" : "error",
  error: ({ error }) => error,
  query: ({ search }) => search?.query,
  found: ({ search }) => search?.count,
  search_id: ({ searchId }) => searchId,
  duration_ms: ({ ms }) => ms,
  server_ms: ({ serverMs }) => serverMs,
  request_bytes: ({ requestBytes }) => requestBytes,
  response_bytes: ({ responseBytes }) => responseBytes,
};

async function* csvLines(calls: AsyncIterable<ActivityRecord>): AsyncGenerator<string> {
  yield `${Object.keys(COLUMNS).join(",")}\r\n`;
  for await (const call of calls) {
    yield `${Object.values(COLUMNS).map((column) => csvField(column(call))).join(",")}\r\n`;
  }
}

async function* jsonLines(calls: AsyncIterable<ActivityRecord>): AsyncGenerator<string> {
  // Who somebody is concerns nobody to whom the file is given.
  for await (const { principal: _, ...call } of calls) {
    yield `${JSON.stringify({ time: new Date(call.at).toISOString(), ...call })}\n`;
  }
}

async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let [text, count] = ["", 0];
  for await (const line of lines) {
    text += line;
    if (++count % AT_ONCE > 0) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}
