import assert from "node:assert/strict";
import * as z from "zod";
import { ELSEWHERE, WITH_ADMIN } from "../elsewhere.ts";
import { startGateway } from "../gateway.ts";
import { Trap } from "./trap.ts";

const Found = z.looseObject({ servers: z.array(z.looseObject({ notes: z.array(z.string()) })) });
const Waiting = z.object({
  consents: z.array(z.looseObject({ server: z.string(), argv: z.array(z.string()) })),
});

Deno.test("an imported config runs no command for somebody from elsewhere, however it is written", async (t) => {
  await using trap = await Trap.make();
  await using gateway = await startGateway([], { env: WITH_ADMIN });
  const { command, args, env } = trap.program();
  const ask = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await response.json();
  };
  const texts: [name: string, text: string][] = [
    ["a", JSON.stringify({ mcpServers: { a: { command, args, env } } })],
    ["b", JSON.stringify({ servers: { b: { type: "stdio", command, args, env } } })],
    ["c", JSON.stringify({ mcpServers: { c: { command, args, env, trust: "trusted" } } })],
    ["d", `{ /* a comment */ "mcpServers": { "d": ${JSON.stringify({ command, args, env })}, } }`],
  ];

  await t.step("to look at it runs nothing, and says what will be asked", async () => {
    for (const [, text] of texts) {
      const found = Found.parse(await ask("/api/server.read", { text }, ELSEWHERE));
      assert.match(found.servers[0]?.notes.join() ?? "", /needs consent/);
    }
    assert.deepEqual(Waiting.parse(await ask("/api/consents")).consents, []);
  });

  await t.step("to add it asks the owner", async () => {
    for (const [server, text] of texts) {
      const answer = await ask("/api/server.import", { text, server }, ELSEWHERE);
      assert.equal(answer.error?.errorType, "CONSENT_NEEDED", server);
    }
    const { consents } = Waiting.parse(await ask("/api/consents"));
    assert.deepEqual(consents.map(({ server }) => server), ["a", "b", "c", "d"]);
    for (const { argv } of consents) assert.deepEqual(argv, trap.argv);
  });

  await t.step("the console's form is no way around it", async () => {
    for (const entry of [texts[0]?.[1] ?? "", `${command} -c true`]) {
      const fields = new URLSearchParams({ entry, choosing: "true", server: "a" });
      const response = await fetch(`${gateway.url}/servers/~new`, {
        method: "POST",
        headers: { ...ELSEWHERE, origin: gateway.url },
        body: fields,
        redirect: "manual",
      });
      assert.notEqual(response.status, 303);
      assert.match(await response.text(), /consent/);
    }
  });
  assert.equal(await trap.isSprung(), false, "a program was run");
  const { servers } = await ask("/api/servers");
  assert.deepEqual(servers.map(({ name }: { name: string }) => name), ["weather"]);
  assert.ok(!gateway.log().includes("canary-value"), "a value was logged");

  await t.step("on the machine itself the same text adds it", async () => {
    const [[server, text] = ["", ""]] = texts;
    const answer = await ask("/api/server.import", { text, server });
    assert.equal(answer.server?.name, server);
    assert.equal(await trap.isSprung(), true);
  });
});
