import assert from "node:assert/strict";
import pino from "pino";
import { Guard } from "./guard.ts";
import { BadRequest } from "./exchange.ts";
import { handleRequest, type RequestHost } from "./handle_request.ts";

Deno.test("inRequestScope() tells a client that its body cannot be read, and logs no error", async () => {
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
  const response = await handleRequest(
    host,
    request,
    "1",
    () => Promise.reject(new BadRequest(400, "The body ended early")),
  );
  assert.equal(response.status, 400);
  assert.equal((await response.json()).error.message, "The body ended early");
  assert.doesNotMatch(lines.join(""), /Request failed/);
});
