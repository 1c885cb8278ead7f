import assert from "node:assert/strict";
import { at, tool } from "../combined_endpoints.ts";
import { IdentityProvider } from "../fixtures/identity_provider.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { Guarded, Visitor } from "./guarded.ts";

let provider: IdentityProvider;
let box: ScriptedServer;
let guarded: Guarded;

Deno.test.beforeAll(async () => {
  provider = await IdentityProvider.open();
  box = new ScriptedServer([tool("echo")]);
  guarded = await Guarded.open({ box: at(box) }, [
    "--require-token",
    "--oauth-issuer",
    provider.issuer,
  ]);
});

Deno.test.afterAll(async () => {
  await guarded?.[Symbol.asyncDispose]();
  for (const one of [box, provider]) await one?.[Symbol.asyncDispose]();
});

const sign = (claims: Record<string, unknown> = {}) => provider.sign(guarded.url, { claims });

Deno.test("a stream ends with the token that opened it, and its session goes on with another of the person's", async () => {
  for (const path of ["/mcp?expose=all", "/servers/box/mcp"]) {
    const sub = `listens at ${path}`;
    const narrow = await sign({ sub, scope: "mcp:read" });
    // Half a minute is left for clocks that differ.
    const exp = Math.floor(Date.now() / 1000) - 26;
    const visitor = await Visitor.open(guarded.url, path, await sign({ sub, exp }));
    const show = (token: string) => visitor.headers.set("authorization", `Bearer ${token}`);
    await using listening = await visitor.listen();
    assert.equal(listening.status, 200);
    show(narrow);
    const listed = await visitor.tools();
    await listening.over();
    assert.deepEqual(await visitor.tools(), listed);
    show(await sign({ sub }));
    await using again = await visitor.listen();
    assert.equal(again.status, 200, "with a later token of the same scopes one can listen again");
    assert.deepEqual(await visitor.tools(), listed);
    assert.equal(again.isOver, false);
  }
});
