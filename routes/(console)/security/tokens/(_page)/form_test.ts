import assert from "node:assert/strict";
import { AccessScope } from "../../../../../lib/core/access.ts";
import { newToken } from "../../../../../lib/operations/access.ts";
import { previewToken, readTokenFields, tokenInput } from "./form.ts";
import { toolsetsGateway } from "../../../../../lib/console/testing/toolsets_gateway.ts";

function fields(fields: Record<string, string | string[]> = {}) {
  const form = new URLSearchParams({ filled: "yes" });
  for (const [name, value] of Object.entries({ right: ["read", "call"], ...fields })) {
    for (const each of [value].flat()) form.append(name, each);
  }
  return readTokenFields(form);
}

Deno.test("readTokenFields() begins with read and call, and keeps what was taken away", () => {
  assert.deepEqual(readTokenFields(new URLSearchParams()).rights, ["read", "call"]);
  assert.deepEqual(readTokenFields(new URLSearchParams("filled=yes")).rights, []);
  assert.deepEqual(fields({ right: ["manage", "read", "root"] }).rights, ["read", "manage"]);
});

Deno.test("tokenInput() reads patterns, limits and days", () => {
  const input = tokenInput(
    fields({
      name: "ci",
      servers: "git, docs*\n git",
      tools: "!git.push",
      project: "web",
      expires: "2d",
      perMinute: "60",
      mode: "read-only",
    }),
  );
  assert.deepEqual(newToken(input, 1_000), {
    name: "ci",
    scope: {
      rights: ["read", "call"],
      servers: ["git", "docs*"],
      toolsets: ["*"],
      tools: ["!git.push"],
    },
    project: "web",
    limit: { perMinute: 60, mode: "read-only" },
    expiresAt: 1_000 + 2 * 86_400_000,
  });
  assert.equal(newToken(tokenInput(fields({ name: "a" }))).limit, undefined);
});

Deno.test("tokenInput() says which field is wrong", () => {
  const token = { name: "a" };
  assert.throws(() => tokenInput(fields({ ...token, right: [] })), /^GatewayError: Rights/);
  assert.throws(() => tokenInput(fields({ ...token, servers: "a;b" })), /Only these servers/);
  assert.throws(() => tokenInput(fields({ ...token, perMinute: "0" })), /Calls per minute/);
  assert.throws(() => tokenInput(fields({ ...token, concurrent: "many" })), /Concurrent calls/);
  assert.throws(() => tokenInput(fields({ ...token, mode: "some" })), /Allowed calls/);
});

Deno.test("previewToken() shows what the token's own rules admit", async () => {
  await using setting = await toolsetsGateway({
    git: ["status", "push"],
    docs: Array.from({ length: 15 }, (_, index) => `read_${index}`),
    db: ["query"],
  });
  const { gateway } = setting;
  for (const name of ["dev", "ops"]) {
    await gateway.toolsets.build({ name, tools: ["git.status"] });
  }
  const scope = AccessScope.parse({
    rights: ["read"],
    servers: ["git", "docs", "db"],
    tools: ["!git.push"],
    toolsets: ["dev"],
  });
  const projects = [{ name: "web", servers: ["docs"], createdAt: 0 }, {
    name: "data",
    servers: ["db"],
    createdAt: 0,
  }];
  const whole = previewToken(gateway, { scope }, projects);
  assert.deepEqual(whole.servers.map(({ name, admitted, all }) => [name, admitted, all]), [
    ["db", 1, 1],
    ["docs", 15, 15],
    ["git", 1, 2],
  ]);
  assert.equal(whole.tools, 17);
  assert.deepEqual(whole.toolsets, ["dev"]);
  assert.equal(whole.servers[1]?.tools.length, 12);
  assert.equal(whole.servers[1]?.more, 3);
  const inWeb = previewToken(gateway, { scope, project: "web" }, projects);
  assert.deepEqual(inWeb.servers.map(({ name }) => name), ["docs", "git"]);
});
