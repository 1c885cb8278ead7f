import assert from "node:assert/strict";
import pino from "pino";
import { GatewayError } from "../core/errors.ts";
import { Guard } from "./guard.ts";
import { BadRequest } from "./exchange.ts";
import { handleRequest, type RequestHost } from "./handle_request.ts";

Deno.test("inRequestScope() tells a client that its body cannot be read, and logs no error", async () => {
  const { response, lines } = await failedRequest(new BadRequest(400, "The body ended early"));
  assert.equal(response.status, 400);
  assert.equal((await response.json()).error.message, "The body ended early");
  assert.doesNotMatch(lines.join(""), /Request failed/);
});

Deno.test("handleRequest() warns of a server that failed, with the reason", async () => {
  const message = 'Cannot connect to server "notes": "nots" is not on PATH';
  const failed = await failedRequest(new GatewayError("SERVER_DISCONNECTED", { message }));
  assert.equal(failed.response.status, 502);
  const [{ level, error }] = failed.lines.map((line) => JSON.parse(line));
  assert.deepEqual([level, error], [pino.levels.values.warn, message]);

  const broken = await failedRequest(new Error("broken"));
  assert.equal(JSON.parse(broken.lines.at(-1)!).level, pino.levels.values.error);
});

async function failedRequest(error: Error): Promise<{ response: Response; lines: string[] }> {
  const lines: string[] = [];
  const host: RequestHost = {
    guard: new Guard({ host: "127.0.0.1", port: 3333, maxBody: 100 }),
    access: { challenge: () => "Bearer" },
    requestLog: pino({}, { write: (line: string) => void lines.push(line) }),
    countRequest: () => {},
    endpoints: { settle: () => {} },
  };
  const request = new Request("http://127.0.0.1:3333/mcp", {
    method: "POST",
    headers: { host: "127.0.0.1:3333" },
  });
  return { response: await handleRequest(host, request, "1", () => Promise.reject(error)), lines };
}
