import assert from "node:assert/strict";
import type { ServerSpec } from "../core/server.ts";
import { waitNotice } from "./tools_call.ts";

function serversWith(mode: "confirm" | "all" | undefined, isRunning = true) {
  const spec: ServerSpec = {
    type: "http",
    url: "https://example.com/mcp",
    headers: {},
    ...(mode === undefined ? {} : { mode }),
  };
  const address = isRunning ? { address: "http://127.0.0.1:3333" } : {};
  return { isRunning, ...address, run: () => Promise.resolve({ spec }) };
}

async function told(servers: Parameters<typeof waitNotice>[0]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  using _notice = waitNotice(servers, "files", 0, resolve);
  return await promise;
}

Deno.test("waitNotice() says where to approve a call where the server asks for that", async () => {
  assert.match(
    await told(serversWith("confirm")),
    /approval: .*http:\/\/127\.0\.0\.1:3333\/security\/approvals/,
  );
});

Deno.test("waitNotice() speaks of no approval where none is known to be needed", async () => {
  const failing = {
    ...serversWith("confirm"),
    run: () => Promise.reject(new Error("not for you")),
  };
  for (const servers of [serversWith("all"), serversWith("confirm", false), failing]) {
    const text = await told(servers);
    assert.match(text, /still running/);
    assert.doesNotMatch(text, /approv/);
  }
});

Deno.test("waitNotice() says nothing once the call is over", async () => {
  const said: string[] = [];
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<{ spec: ServerSpec }>();
  const servers = {
    ...serversWith("all"),
    run() {
      asked.resolve();
      return answer.promise;
    },
  };
  {
    using _ended = waitNotice(servers, "files", 60_000, (text) => said.push(text));
    using _late = waitNotice(servers, "files", 0, (text) => said.push(text));
    await asked.promise;
  }
  answer.resolve({ spec: { type: "demo" } });
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(said, []);
});
