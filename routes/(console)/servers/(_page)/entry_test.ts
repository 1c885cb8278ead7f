import assert from "node:assert/strict";
import type { Gateway } from "../../../../lib/gateway.ts";
import { readPasted } from "../../../../lib/config/pasted_servers.ts";
import { loadInput } from "../../../../lib/config/testing/load_servers.ts";
import { stubGateway } from "../../../../lib/console/testing/stub_gateway.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import type { ServerSpec, ServerStatus } from "../../../../lib/core/server.ts";
import { maskSpec, unmaskSpec } from "../../../../lib/servers/spec.ts";
import { callBy, servicesOf } from "../../../../lib/operations/testing/services.ts";
import { addServer, editForm, type FormGateway, readServerForm, saveServer } from "./entry.ts";

const HERE = callBy("a", { via: "console" });
const ELSEWHERE = callBy("a", { via: "console", isLocal: false, from: () => "192.0.2.7" });

function gatewayWith(added: Map<string, ServerSpec>): FormGateway {
  const { servers } = stubGateway({ servers: [{ name: "git" }] });
  const context = loadInput("/here", {});
  return servicesOf({
    servers,
    readPasted: (text: string) => readPasted(text, context),
    admin: {
      add(name: string, spec: ServerSpec) {
        if (name === "broken") {
          return Promise.reject(
            new GatewayError("SERVER_DISCONNECTED", {
              message: 'Cannot add server "broken": command "x" is not on PATH',
            }),
          );
        }
        added.set(name, spec);
        return Promise.resolve({ state: "ready", toolCount: 2, reason: "Connected" });
      },
      quarantined: () => 0,
    } as unknown as Gateway["admin"],
  });
}

const words = (fields: Record<string, string>, chosen?: string[]) => {
  const form = new URLSearchParams(fields);
  if (chosen) form.set("choosing", "true");
  for (const name of chosen ?? []) form.append("server", name);
  return readServerForm(form);
};

Deno.test("addServer() adds one with its settings, under a name that is free", async () => {
  const added = new Map<string, ServerSpec>();
  const entry = "npx -y mcp-server-git";
  const outcome = await addServer(
    gatewayWith(added),
    words({ entry, settings: "A=b", folder: "/x" }),
    HERE,
  );
  assert.deepEqual(outcome, { added: "git-2" });
  assert.deepEqual(added.get("git-2"), {
    type: "stdio",
    command: "npx",
    args: ["-y", "mcp-server-git"],
    env: { A: "b" },
    cwd: "/x",
  });
});

Deno.test("addServer() adds one with the limits that are written, and those of its entry", async () => {
  const added = new Map<string, ServerSpec>();
  const entry = JSON.stringify({
    mcpServers: { a: { url: "https://a.example", trust: "untrusted" } },
  });
  const limits = { mode: "read-only", callsPerMinute: "60", trust: "" };
  await addServer(gatewayWith(added), words({ entry, ...limits }), HERE);
  assert.deepEqual(added.get("a"), {
    type: "http",
    url: "https://a.example",
    headers: {},
    mode: "read-only",
    callsPerMinute: 60,
    trust: "untrusted",
  });
  const form = await addServer(
    gatewayWith(added),
    words({ entry: "https://b.example", callsPerMinute: "many" }),
    HERE,
  );
  assert.ok("error" in form && form.limits?.callsPerMinute === "many");
  assert.match(form.error?.message ?? "", /Calls per minute/);
});

/** Of one stored server, as the real one shows and changes it. */
function editing(stored: ServerSpec) {
  const saved: ServerSpec[] = [];
  const state = { version: "1" };
  const gateway = gatewayWith(new Map());
  gateway.admin.checkChangeable = () => Promise.resolve();
  gateway.admin.read = () => Promise.resolve({ server: STATUS, spec: maskSpec(stored), ...state });
  gateway.admin.update = (_name, wanted, options) => {
    if (options?.version !== state.version) return Promise.reject(new GatewayError("CONFLICT"));
    saved.push(JSON.parse(JSON.stringify(unmaskSpec(wanted, stored))));
    return Promise.resolve(STATUS);
  };
  return { gateway, saved, state };
}

const STATUS: ServerStatus = {
  name: "a",
  type: "http",
  source: { kind: "store" },
  state: "ready",
  reason: "",
  since: 0,
  toolCount: 0,
};

const REFERS: ServerSpec = {
  type: "http",
  url: "https://a.example/mcp",
  headers: { Authorization: "Bearer ${secret:A}", "X-Team": "kept-value" },
  mode: "confirm",
  maxConcurrent: 3,
};

Deno.test("saveServer() saves what its form shows unchanged, here and from elsewhere", async () => {
  for (const by of [HERE, ELSEWHERE]) {
    const { gateway, saved } = editing(REFERS);
    const form = await editForm(gateway, "a");
    assert.equal(form.settings, "Authorization: Bearer ${secret:A}\nX-Team: ***");
    assert.deepEqual([form.limits?.mode, form.limits?.maxConcurrent], ["confirm", "3"]);
    assert.ok("state" in await saveServer(gateway, "a", form, by));
    assert.deepEqual(saved, [REFERS]);
  }
});

Deno.test("saveServer() overwrites nothing that its form has not shown, and keeps what was written", async () => {
  const { gateway, saved, state } = editing(REFERS);
  const { entry, version } = await editForm(gateway, "a");
  assert.equal(version, "1");
  state.version = "2";
  const settings = "X-Team: other";
  const form = await saveServer(gateway, "a", words({ entry, settings, version }), HERE);
  assert.ok("error" in form && form.error?.code === "CONFLICT");
  assert.deepEqual([form.settings, form.version, saved], [settings, "1", []]);
});

Deno.test("saveServer() lets nobody elsewhere send a secret to another place", async () => {
  for (const change of [{ entry: "https://b.example" }, { settings: "X: ${secret:A}" }]) {
    const { gateway, saved } = editing(REFERS);
    const form = { ...await editForm(gateway, "a"), ...change };
    const outcome = await saveServer(gateway, "a", form, ELSEWHERE);
    assert.ok("error" in outcome && outcome.error?.code === "ACCESS_DENIED");
    assert.deepEqual(saved, []);
  }
});

Deno.test("addServer() keeps what was written where it fails, and says what to do", async () => {
  const form = await addServer(
    gatewayWith(new Map()),
    words({ entry: "x --y", name: "broken", settings: "A=b" }),
    HERE,
  );
  assert.ok("error" in form && form.error);
  assert.equal(form.entry, "x --y");
  assert.equal(form.settings, "A=b");
  assert.match(form.error.steps[0] ?? "", /^Install the program/);
});

Deno.test("addServer() hands on who asks, and keeps what was written where consent is needed", async () => {
  const asked: unknown[] = [];
  const gateway = gatewayWith(new Map());
  gateway.admin.add = (_name, _spec, options) => {
    asked.push(options?.by);
    return Promise.reject(new GatewayError("CONSENT_NEEDED"));
  };
  const form = await addServer(gateway, words({ entry: "npx x-y" }), ELSEWHERE);
  assert.ok("error" in form && form.error?.code === "CONSENT_NEEDED");
  assert.equal(form.entry, "npx x-y");
  assert.deepEqual(asked, [
    { via: "console", principal: "a", from: "192.0.2.7", isHere: false },
  ]);
});

const FILE = JSON.stringify({
  mcpServers: {
    git: { command: "a" },
    broken: { command: "x" },
    fine: { url: "https://a.example/mcp?token=s3cret-value" },
    off: { url: "https://b.example/mcp", disabled: true },
  },
});

Deno.test("addServer() lets choose among several, and tells of each how it fared", async () => {
  const added = new Map<string, ServerSpec>();
  const gateway = gatewayWith(added);
  const asked = await addServer(gateway, words({ entry: FILE }), HERE);
  assert.ok("found" in asked && asked.found);
  assert.deepEqual(asked.found.map(({ name, isChosen }) => [name, isChosen]), [
    ["git", false],
    ["broken", true],
    ["fine", true],
    ["off", false],
  ]);
  assert.match(asked.found[0]?.problem ?? "", /Server "git" already exists/);
  assert.equal(asked.found[2]?.line, "https://a.example/mcp?token=***");
  assert.equal(added.size, 0);

  const done = await addServer(gateway, words({ entry: FILE }, ["broken", "fine"]), HERE);
  assert.ok("found" in done && done.found);
  const outcomes = new Map(done.found.map(({ name, outcome }) => [name, outcome]));
  assert.deepEqual(outcomes.get("fine"), { ok: true, text: "Added, 2 tools" });
  assert.equal(outcomes.get("broken")?.ok, false);
  assert.equal(outcomes.get("git"), undefined);
  assert.deepEqual([...added.keys()], ["fine"]);
});
