import type { Gateway } from "../compose.ts";
import { csvField } from "../core/csv.ts";
import type { ActivityRecord } from "../storage/activity_repository.ts";
import { parseActivityQuery, parseExportFormat } from "./activity_query.ts";

const COLUMNS = [
  "time",
  "id",
  "client",
  "door",
  "session",
  "server",
  "tool",
  "status",
  "error",
  "duration_ms",
  "server_ms",
  "request_bytes",
  "response_bytes",
] as const;
/** So many calls go out at a time. */
const AT_ONCE = 500;

/** All calls that the address asks for, as a file that is made while it is read. */
export function exportActivity(
  gateway: Pick<Gateway, "calls">,
  query: URLSearchParams,
): Response {
  const format = parseExportFormat(query);
  const { filter, range } = parseActivityQuery(query);
  const lines = format === "csv"
    ? csvLines(gateway.calls.calls(filter, range))
    : jsonLines(gateway.calls.calls(filter, range));
  const type = format === "csv" ? "text/csv" : "application/x-ndjson";
  return new Response(inChunks(lines), {
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "content-disposition": `attachment; filename="activity.${format}"`,
    },
  });
}

async function* csvLines(calls: AsyncIterable<ActivityRecord>): AsyncGenerator<string> {
  yield `${COLUMNS.join(",")}\r\n`;
  for await (const call of calls) {
    const fields = [
      new Date(call.at).toISOString(),
      call.id,
      call.client,
      call.door,
      call.session,
      call.server,
      call.tool,
      call.ok ? "ok" : "error",
      call.error,
      call.ms,
      call.serverMs,
      call.requestBytes,
      call.responseBytes,
    ];
    yield `${fields.map(csvField).join(",")}\r\n`;
  }
}

async function* jsonLines(calls: AsyncIterable<ActivityRecord>): AsyncGenerator<string> {
  // Who somebody is concerns nobody whom the file is handed to.
  for await (const { principal: _, ...call } of calls) {
    yield `${JSON.stringify({ time: new Date(call.at).toISOString(), ...call })}\n`;
  }
}

function inChunks(lines: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      let text = "";
      for (let count = 0; count < AT_ONCE; count++) {
        const { value, done } = await lines.next();
        if (done) {
          if (text !== "") controller.enqueue(encoder.encode(text));
          return controller.close();
        }
        text += value;
      }
      controller.enqueue(encoder.encode(text));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
}
