import assert from "node:assert/strict";
import { Access } from "../auth/access.ts";
import type { Gateway } from "../compose.ts";
import { AccessScope } from "../core/access.ts";
import type { AuditedChange } from "../core/audit.ts";
import { GatewayError } from "../core/errors.ts";
import { AccessTokensRepository, ProjectsRepository } from "../storage/access_repositories.ts";
import { Store } from "../storage/store.ts";
import { AccessAdmin } from "../surfaces/access_admin.ts";
import { changeProjects, projectsPage } from "./security_projects.ts";
import { createToken, makeToken, tokensPage } from "./security_tokens.ts";
import { toolsetsGateway } from "./testing/toolsets_gateway.ts";

const EVERYONE = "everyone";

/** A console's gateway whose tokens and projects are real. */
async function openSetting() {
  const store = await Store.open({ location: ":memory:" });
  const parts = await toolsetsGateway({ git: ["status"], docs: ["read"] });
  const [tokens, projects] = [new AccessTokensRepository(store), new ProjectsRepository(store)];
  const access = new Access({ isRequired: false });
  const audited: AuditedChange[] = [];
  const accessAdmin = new AccessAdmin({
    tokens,
    projects,
    onAudit: (change) => audited.push(change),
    async onChanged() {
      const [all, others] = await Promise.all([
        Array.fromAsync(tokens.list()),
        Array.fromAsync(projects.list()),
      ]);
      access.load(all.map(({ value }) => value), others.map(({ value }) => value));
    },
  });
  const sessions: { principal: string }[] = [];
  const doors = { host: { sessions: { list: () => sessions } } } as unknown as Gateway["doors"];
  return {
    gateway: { ...parts.gateway, access, accessAdmin, doors },
    sessions,
    audited,
    async [Symbol.asyncDispose]() {
      await parts[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

const form = (fields: Record<string, string>) =>
  new URLSearchParams({ filled: "yes", right: "read", ...fields });

Deno.test("makeToken() shows the text once, with what each client needs", async () => {
  await using setting = await openSetting();
  const { gateway, sessions, audited } = setting;
  const by = { principal: EVERYONE, from: "127.0.0.1" };
  const { made, tokens } = await makeToken(gateway, by, form({ name: "ci", servers: "git" }));
  assert.match(made?.text ?? "", /^qm_/);
  assert.equal(made?.door, "http://127.0.0.1:3333/mcp");
  assert.equal(made?.snippets.length, 4);
  for (const { code } of made!.snippets) assert.ok(code.includes(made!.text), code);
  assert.match(made!.snippets[0]?.command ?? "", /--header "Authorization: Bearer qm_/);
  assert.deepEqual(tokens.map(({ name, scope, rights }) => [name, scope, rights]), [
    ["ci", "servers git", ["read"]],
  ]);
  sessions.push({ principal: `token:${tokens[0]!.id}@web` });
  const later = await tokensPage(gateway, `token:${tokens[0]!.id}`, new URLSearchParams());
  assert.ok(!JSON.stringify(later).includes(made!.text));
  assert.deepEqual([later.tokens[0]?.sessions, later.tokens[0]?.isOwn], [1, true]);
  assert.equal(audited[0]?.action, "token.create");
  assert.equal(audited[0]?.from, "127.0.0.1");
  assert.ok(!JSON.stringify(audited).includes(made!.text));
});

Deno.test("createToken() gives no right that its maker does not have", async () => {
  await using setting = await openSetting();
  const { gateway } = setting;
  const scope = (rights: string[]) => AccessScope.parse({ rights });
  const { token } = await createToken(gateway, { principal: EVERYONE }, {
    name: "manager",
    scope: scope(["read", "manage"]),
  });
  const by = { principal: `token:${token.id}` };
  await assert.rejects(
    createToken(gateway, by, { name: "more", scope: scope(["read", "call"]) }),
    (error) => error instanceof GatewayError && error.code === "ACCESS_DENIED",
  );
  await createToken(gateway, by, { name: "less", scope: scope(["read"]) });
  const { grantable } = await tokensPage(gateway, by.principal, new URLSearchParams());
  assert.deepEqual(grantable, ["read", "manage"]);
});

Deno.test("createToken() takes the stricter of the modes that are wanted and the maker's own", async () => {
  await using setting = await openSetting();
  const { gateway } = setting;
  const scope = AccessScope.parse({ rights: ["read", "manage"] });
  const modes = ["all", "confirm", "read-only"] as const;
  for (const [strictness, own] of modes.entries()) {
    const made = await createToken(gateway, { principal: EVERYONE }, {
      name: own,
      scope,
      limit: { mode: own },
    });
    const by = { principal: `token:${made.token.id}` };
    for (const [wanted, mode] of modes.entries()) {
      const name = `${mode} by ${own}`;
      const { token } = await createToken(gateway, by, { name, scope, limit: { mode } });
      assert.equal(token.limit?.mode, modes[Math.max(strictness, wanted)], name);
    }
  }
});

Deno.test("tokensPage() shows what is wrong with the form, and keeps what was written", async () => {
  await using setting = await openSetting();
  const page = await tokensPage(setting.gateway, EVERYONE, form({ name: "x", tools: "a;b" }));
  assert.match(page.error?.message ?? "", /"a;b" is no pattern/);
  assert.equal(page.words.tools, "a;b");
  assert.equal(page.preview, undefined);
});

Deno.test("tokensPage() says beside the name that it is missing, and nowhere else", async () => {
  await using setting = await openSetting();
  const { gateway } = setting;
  const written = form({ change: "create", name: " " });
  const error = await makeToken(gateway, { principal: EVERYONE }, written).then(
    () => undefined,
    (error) => error,
  );
  assert.ok(error instanceof GatewayError);
  const page = await tokensPage(gateway, EVERYONE, written, error);
  assert.match(page.nameProblem ?? "", /^Write a name/);
  assert.equal(page.error, undefined);
  const looked = await tokensPage(gateway, EVERYONE, form({ name: "" }));
  assert.equal(looked.nameProblem, undefined, "nothing is made yet");
});

Deno.test("changeProjects() makes, fills and deletes one, unless a token is for it alone", async () => {
  await using setting = await openSetting();
  const { gateway } = setting;
  const change = (fields: [string, string][]) =>
    changeProjects(gateway, new URLSearchParams(fields));
  assert.equal(await change([["change", "create"], ["name", "web"]]), "made");
  await assert.rejects(change([["change", "create"], ["name", "web"]]), /already/);
  await assert.rejects(change([["change", "create"], ["name", "a b"]]), /letters, digits/);
  const [made] = (await projectsPage(gateway, new URLSearchParams())).projects;
  const seen: [string, string] = ["versionstamp", made!.versionstamp];
  await change([["change", "save"], ["name", "web"], seen, ["server", "git"], ["server", "gone"]]);
  await createToken(gateway, { principal: EVERYONE }, {
    name: "ci",
    scope: AccessScope.parse({ rights: ["read"] }),
    project: "web",
  });
  const page = await projectsPage(gateway, new URLSearchParams("done=saved"));
  assert.match(page.done ?? "", /saved/);
  assert.deepEqual(page.shared, ["docs"]);
  assert.deepEqual(page.projects[0]?.choices, [
    { name: "docs", isAssigned: false, isGone: false },
    { name: "git", isAssigned: true, isGone: false },
    { name: "gone", isAssigned: true, isGone: true },
  ]);
  assert.deepEqual(page.projects[0]?.tokens, ["ci"]);
  await assert.rejects(change([["change", "delete"], ["name", "web"]]), /a token is for it alone/);
  await gateway.accessAdmin.revokeToken("ci");
  assert.equal(await change([["change", "delete"], ["name", "web"]]), "deleted");
  await assert.rejects(change([]), /does not say what to do/);
});
