import assert from "node:assert/strict";
import { AccessScope } from "../core/access.ts";
import { newToken, previewToken, readTokenWords, tokenOf } from "./security_token_form.ts";
import { toolsetsGateway } from "./testing/toolsets_gateway.ts";

function words(fields: Record<string, string | string[]> = {}) {
  const form = new URLSearchParams({ filled: "yes" });
  for (const [name, value] of Object.entries({ right: ["read", "call"], ...fields })) {
    for (const each of [value].flat()) form.append(name, each);
  }
  return readTokenWords(form);
}

Deno.test("readTokenWords() begins with read and call, and keeps what was taken away", () => {
  assert.deepEqual(readTokenWords(new URLSearchParams()).rights, ["read", "call"]);
  assert.deepEqual(readTokenWords(new URLSearchParams("filled=yes")).rights, []);
  assert.deepEqual(words({ right: ["manage", "read", "root"] }).rights, ["read", "manage"]);
});

Deno.test("tokenOf() reads patterns, limits and days", () => {
  const token = tokenOf(
    words({
      name: "ci",
      servers: "git, docs*\n git",
      tools: "!git.push",
      project: "web",
      expires: "2",
      perMinute: "60",
      mode: "read-only",
    }),
    1_000,
  );
  assert.deepEqual(token, {
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
});

Deno.test("tokenOf() says which field is wrong", () => {
  assert.throws(() => tokenOf(words({ right: [] })), /at least one right/);
  assert.throws(() => tokenOf(words({ servers: "a;b" })), /"a;b" is no pattern for servers/);
  assert.throws(() => tokenOf(words({ perMinute: "0" })), /Calls a minute/);
  assert.throws(() => tokenOf(words({ concurrent: "many" })), /Calls at once/);
  assert.throws(() => tokenOf(words({ mode: "some" })), /Mode: "some" is none of all, confirm/);
  assert.throws(() => tokenOf(words({ expires: "-1" })), /Days/);
});

Deno.test("newToken() leaves a limit out that limits nothing", () => {
  const token = newToken({ name: "a", rights: ["read", "read"], limit: {} });
  assert.deepEqual(token, { name: "a", scope: AccessScope.parse({ rights: ["read"] }) });
});

Deno.test("newToken() keeps a mode that is the only limit", () => {
  const token = newToken({ name: "a", rights: ["call"], limit: { mode: "confirm" } });
  assert.deepEqual(token.limit, { mode: "confirm" });
  assert.equal(tokenOf(words({ name: "a" })).limit, undefined);
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
