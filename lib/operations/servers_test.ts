import assert from "node:assert/strict";
import { EVERYONE } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerStatus } from "../core/server.ts";
import { ConsentNeeded, type Decision } from "../trust/consents.ts";
import { operationTools } from "./mcp.ts";
import { specOf, withoutGuess } from "./server_entry.ts";
import { SERVER_OPERATIONS } from "./servers.ts";
import { servicesOf } from "./testing/services.ts";
import type { ServerActor } from "../auth/grants.ts";
import type { ServersAdmin } from "./servers_admin.ts";

/** The tools of servers, for a caller over MCP. */
function serverTools(admin: ServersAdmin) {
  return operationTools(Object.values(SERVER_OPERATIONS), servicesOf({ admin }));
}

Deno.test("add_server and update_server leave it to the owner whether a program is run", async () => {
  const asked: string[] = [];
  const askers: ServerActor[] = [];
  const take = (_name: string, _spec: unknown, { by }: { by: ServerActor }) => {
    askers.push(by);
    return Promise.reject(new Error("handed on"));
  };
  const admin = {
    checkFree: () => Promise.resolve(),
    checkChangeable: () => Promise.resolve(),
    add: take,
    update: take,
  } as unknown as ServersAdmin;
  for (const name of ["add_server", "update_server"]) {
    const tool = serverTools(admin).find((tool) => tool.name === name)!;
    const run = tool.run({ name: "box", command: "run", env: { KEY: "${secret:PROD}" } }, {
      signal: new AbortController().signal,
      principal: EVERYONE,
      from: () => "a test",
      confirm: (message) => Promise.resolve(void asked.push(message)).then(() => true),
    });
    await assert.rejects(run, /handed on/);
  }
  assert.deepEqual(asked, []);
  const expected = { via: "mcp", principal: EVERYONE, from: "a test", isHere: false };
  assert.deepEqual(askers, [expected, expected]);
});

Deno.test("add_server waits for the owner as long as the client does, and reports the decision", async () => {
  const server = { name: "box", type: "stdio", state: "ready", reason: "Connected", toolCount: 3 };
  const { promise: decision, resolve: decide } = Promise.withResolvers<Decision | undefined>();
  const needed = new ConsentNeeded({ message: "Agree first" }, "http://here/c#1", (signal) => {
    signal.addEventListener("abort", () => decide(undefined));
    return decision;
  });
  const admin = {
    checkFree: () => Promise.resolve(),
    quarantined: () => 0,
    add: () => Promise.reject(needed),
  } as unknown as ServersAdmin;
  const tool = serverTools(admin).find(({ name }) => name === "add_server")!;
  const { signal } = new AbortController();
  const input = { name: "box", command: "run" };
  await assert.rejects(tool.run(input, { signal, principal: EVERYONE }), needed);

  const told: string[] = [];
  const progress = (message: string) => void told.push(message);
  const waiting = tool.run(input, { signal, principal: EVERYONE, progress });
  await assert.rejects(
    tool.run({ ...input, waitSeconds: 0 }, {
      ...{ signal, principal: EVERYONE, progress },
    }),
    needed,
  );
  assert.deepEqual(told, ["Waiting for the owner's consent: http://here/c#1"]);
  decide({ server: server as ServerStatus });
  const done = await waiting;
  assert.match("text" in done ? done.text : "", /^Added\. box \(stdio\): ready, 3 tools/);

  const refusing = new ConsentNeeded({}, "", () => Promise.resolve({ refused: "box" }));
  Object.assign(admin, { add: () => Promise.reject(refusing) });
  await assert.rejects(tool.run(input, { signal, principal: EVERYONE, progress }), {
    code: "ACCESS_DENIED",
  });
  const silent = new ConsentNeeded({}, "", async (signal) => {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return undefined;
  });
  Object.assign(admin, { add: () => Promise.reject(silent) });
  const cancelling = new AbortController();
  const context = { signal: cancelling.signal, principal: EVERYONE, progress };
  const cancelled = tool.run(input, context);
  cancelling.abort();
  await assert.rejects(cancelled, silent);
});

Deno.test("withoutGuess() blames neither address nor command where a secret is missing", () => {
  const spec = specOf({
    name: "a",
    url: "https://example.com/mcp",
    headers: { X: "${secret:KEY}" },
    check: true,
  });
  const failure = (message: string) =>
    new GatewayError("SERVER_DISCONNECTED", { message, recoverySteps: ["Check the address"] });
  const missing = withoutGuess(
    "add",
    failure("Cannot add: the secret KEY is not set: set it"),
    spec,
  );
  assert.ok(missing instanceof GatewayError);
  assert.match(missing.message, /the secret KEY is not set/);
  assert.doesNotMatch(missing.details.recoverySteps?.join() ?? "Check", /Check/);
  const other = failure("Cannot add: HTTP 404");
  assert.equal(withoutGuess("add", other, spec), other);
  const another = failure("Cannot add: the secret KEY_2 is not set: set it");
  assert.equal(withoutGuess("add", another, spec), another);
});
