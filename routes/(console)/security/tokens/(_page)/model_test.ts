import assert from "node:assert/strict";
import { CLIENTS } from "../../../../../lib/config/clients.ts";
import { currentOrigin } from "../../../../../lib/telemetry/audit_log.ts";
import { Access } from "../../../../../lib/auth/access.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import type { AuditedChange } from "../../../../../lib/core/access.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import {
  AccessTokensRepository,
  ProjectsRepository,
} from "../../../../../lib/storage/access_repositories.ts";
import { Store } from "../../../../../lib/storage/store.ts";
import { AccessAdmin } from "../../../../../lib/operations/access_admin.ts";
import { decideByForm } from "../../../../../lib/console/form_page.ts";
import { PROJECT_DECISIONS, projectsPage } from "../../projects/(_page)/model.ts";
import { ACCESS_OPERATIONS } from "../../../../../lib/operations/access.ts";
import { runOperation } from "../../../../../lib/operations/operation.ts";
import type { Services } from "../../../../../lib/operations/services.ts";
import { callBy } from "../../../../../lib/operations/testing/services.ts";
import { makeToken, tokensPage } from "./model.ts";
import { toolsetsGateway } from "../../../../../lib/console/testing/toolsets_gateway.ts";

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
    onAudit: (change) => audited.push({ ...change, from: currentOrigin()?.from() ?? "" }),
    async onChanged() {
      const [all, others] = await Promise.all([
        Array.fromAsync(tokens.list()),
        Array.fromAsync(projects.list()),
      ]);
      access.load(all.map(({ value }) => value), others.map(({ value }) => value));
    },
  });
  const sessions: { principal: string }[] = [];
  const endpoints = {
    host: { sessions: { list: () => sessions } },
  } as unknown as Gateway["endpoints"];
  return {
    gateway: { ...parts.gateway, access, accessAdmin, endpoints } as
      & typeof parts.gateway
      & Services,
    sessions,
    audited,
    async [Symbol.asyncDispose]() {
      await parts[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

const create = (gateway: Services, principal: string, input: Record<string, unknown>) =>
  runOperation(ACCESS_OPERATIONS.createToken, gateway, input, callBy(principal));

const form = (fields: Record<string, string>) =>
  new URLSearchParams({ filled: "yes", right: "read", ...fields });

Deno.test("makeToken() shows the text once, with what each client needs", async () => {
  await using setting = await openSetting();
  const { gateway, sessions, audited } = setting;
  const call = callBy(EVERYONE, { from: () => "127.0.0.1" });
  const { made, tokens } = await makeToken(gateway, form({ name: "ci", servers: "git" }), call);
  assert.match(made?.text ?? "", /^qm_/);
  assert.equal(made?.endpoint, "http://127.0.0.1:3333/mcp");
  assert.equal(made?.snippets.length, CLIENTS.length);
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

Deno.test("token.create gives no right that its maker does not have", async () => {
  await using setting = await openSetting();
  const { gateway } = setting;
  const { token } = await create(gateway, EVERYONE, {
    name: "manager",
    rights: ["read", "manage"],
  });
  const principal = `token:${token.id}`;
  await assert.rejects(
    create(gateway, principal, { name: "more", rights: ["read", "call"] }),
    (error) => error instanceof GatewayError && error.code === "ACCESS_DENIED",
  );
  await create(gateway, principal, { name: "less", rights: ["read"] });
  const { rights } = await tokensPage(gateway, principal, new URLSearchParams());
  const grantable = rights.flatMap(({ right, isGrantable }) => isGrantable ? right : []);
  assert.deepEqual(grantable, ["read", "manage"]);
});

Deno.test("token.create takes the stricter of the modes that are wanted and the maker's own", async () => {
  await using setting = await openSetting();
  const { gateway } = setting;
  const rights = ["read", "manage"];
  const modes = ["all", "confirm", "read-only"] as const;
  for (const [strictness, own] of modes.entries()) {
    const made = await create(gateway, EVERYONE, { name: own, rights, mode: own });
    const principal = `token:${made.token.id}`;
    for (const [wanted, mode] of modes.entries()) {
      const name = `${mode} by ${own}`;
      const { token } = await create(gateway, principal, { name, rights, mode });
      assert.equal(token.limit?.mode, modes[Math.max(strictness, wanted)], name);
    }
  }
});

Deno.test("tokensPage() shows what is wrong with the form, and keeps what was written", async () => {
  await using setting = await openSetting();
  const page = await tokensPage(setting.gateway, EVERYONE, form({ name: "x", tools: "a;b" }));
  assert.match(page.error?.message ?? "", /Only these tools/);
  assert.equal(page.fields.tools, "a;b");
  assert.equal(page.preview, undefined);
});

Deno.test("tokensPage() says beside the name that it is missing, and nowhere else", async () => {
  await using setting = await openSetting();
  const { gateway } = setting;
  const written = form({ change: "create", name: " " });
  const error = await makeToken(gateway, written, callBy(EVERYONE)).then(
    () => undefined,
    (error) => error,
  );
  assert.ok(error instanceof GatewayError);
  const page = await tokensPage(gateway, EVERYONE, written, error);
  assert.match(page.nameProblem ?? "", /^Enter a name/);
  assert.equal(page.error, undefined);
  const looked = await tokensPage(gateway, EVERYONE, form({ name: "" }));
  assert.equal(looked.nameProblem, undefined, "nothing is made yet");
});

Deno.test("projects page makes, fills and deletes one, unless a token is for it alone", async () => {
  await using setting = await openSetting();
  const { gateway } = setting;
  const change = (fields: [string, string][]) =>
    decideByForm(PROJECT_DECISIONS, gateway, new URLSearchParams(fields), callBy(EVERYONE));
  await change([["action", "create"], ["name", "web"]]);
  await assert.rejects(change([["action", "create"], ["name", "web"]]), /already/);
  await assert.rejects(change([["action", "create"], ["name", "a b"]]), /letters, digits/);
  const [made] = (await projectsPage(gateway, new URLSearchParams())).projects;
  const seen: [string, string] = ["versionstamp", made!.versionstamp];
  await change([["action", "save"], ["name", "web"], seen, ["servers", "git"], [
    "servers",
    "gone",
  ]]);
  await create(gateway, EVERYONE, { name: "ci", rights: ["read"], project: "web" });
  const page = await projectsPage(gateway, new URLSearchParams());
  assert.deepEqual(page.shared, ["docs"]);
  assert.deepEqual(page.projects[0]?.choices, [
    { name: "docs", isAssigned: false, isGone: false },
    { name: "git", isAssigned: true, isGone: false },
    { name: "gone", isAssigned: true, isGone: true },
  ]);
  assert.deepEqual(page.projects[0]?.tokens, ["ci"]);
  await assert.rejects(change([["action", "delete"], ["name", "web"]]), /a token is limited to it/);
  await gateway.accessAdmin.revokeToken("ci");
  await change([["action", "delete"], ["name", "web"]]);
  await assert.rejects(change([]), /sent without an action/);
});
