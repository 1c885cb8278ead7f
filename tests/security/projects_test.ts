import assert from "node:assert/strict";
import * as z from "zod";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";
import { Guarded, Visitor } from "./guarded.ts";

const NAMES = ["web", "data", "both", "free"];
const CHANGED = "notifications/tools/list_changed";

let servers: Record<string, ScriptedServer>;
let guarded: Guarded;

Deno.test.beforeAll(async () => {
  servers = Object.fromEntries(
    NAMES.map((name) => [name, new ScriptedServer([tool(`${name}_echo`)])]),
  );
  for (const [name, server] of Object.entries(servers)) {
    server.capabilities = { resources: {} };
    server.scripts.set("resources/list", () => ({ resources: [{ uri: `file:///${name}`, name }] }));
  }
  guarded = await Guarded.open(
    Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, at(server)])),
  );
  await guarded.admin.saveProject({ name: "website", servers: ["web", "both"] });
  await guarded.admin.saveProject({ name: "numbers", servers: ["data", "both"] });
});

Deno.test.afterAll(async () => {
  await guarded?.[Symbol.asyncDispose]();
  for (const server of Object.values(servers ?? {})) await server[Symbol.asyncDispose]();
});

/** An endpoint that the gateway may have to hear of first. */
function visit(path: string, token: string): Promise<Visitor> {
  return until(() => Visitor.open(guarded.url, path, token).catch(() => undefined));
}

async function refusal(path: string, token: string): Promise<string> {
  const opened = Visitor.open(guarded.url, path, token);
  return await opened.then(() => "", (error: Error) => error.message);
}

function flat(...names: string[]): string[] {
  return names.map((name) => `${name}_${name}_echo`).sort();
}

Deno.test("?project= shows the project's servers and those of none", async () => {
  const { text: token } = await guarded.token();
  const all = "/mcp?expose=all";
  const web = await visit(`${all}&project=website`, token);
  assert.deepEqual(await web.tools(), flat("web", "both", "free"));
  const numbers = await visit(`${all}&project=numbers`, token);
  assert.deepEqual(await numbers.tools(), flat("data", "both", "free"));
  const whole = await visit(all, token);
  assert.deepEqual(await whole.tools(), flat(...NAMES));
  assert.doesNotMatch((await web.request("resources/list")).text, /file:\/\/\/data/);
  assert.match(await web.call("data_data_echo"), /TOOL_NOT_FOUND/);
  assert.match(await refusal("/servers/data/mcp?project=website", token), /no server "data"/);
  assert.match(await refusal(`${all}&project=nonesuch`, token), /project "nonesuch"/);
  assert.equal(servers.data?.calls.length, 0);
});

Deno.test("a token for one project cannot leave it", async () => {
  const { text: token } = await guarded.token({ project: "website" });
  const visitor = await visit("/mcp?expose=all", token);
  assert.deepEqual(await visitor.tools(), flat("web", "both", "free"));
  const same = await visit("/mcp?expose=all&project=website", token);
  assert.deepEqual(await same.tools(), flat("web", "both", "free"));
  assert.match(
    await refusal("/mcp?project=numbers", token),
    /only valid for the project "website"/,
  );
  assert.match(
    await refusal("/mcp?project=nonesuch", token),
    /only valid for the project "website"/,
  );
  const left = await visitor.call("data_data_echo", {}, { projectId: "numbers" });
  assert.match(left, /ACCESS_DENIED/);
  assert.match(await visitor.call("data_data_echo"), /TOOL_NOT_FOUND/);
  assert.equal(servers.data?.calls.length, 0);
});

Deno.test("a project widens nothing that a token may not see", async () => {
  const { text: token } = await guarded.token({ servers: ["web", "both", "free"] });
  const numbers = await visit("/mcp?expose=all&project=numbers", token);
  assert.deepEqual(await numbers.tools(), flat("both", "free"));
  const web = await visit("/mcp?expose=all", token);
  const { text } = await web.request("tools/list", { _meta: { projectId: "numbers" } });
  assert.doesNotMatch(text, /data|web_/);
});

Deno.test("a token for some servers cannot try which projects there are", async () => {
  const { text: token } = await guarded.token({ servers: ["web", "free"] });
  const visitor = await visit("/mcp?expose=all&project=website", token);
  const answers = async (project: string) => {
    const response = await guarded.get(`/mcp?project=${project}`, { token });
    const endpoint = [response.status, (await response.text()).replace(/"requestId":"[^"]*"/, "")];
    const { status, text } = await visitor.request("tools/list", { _meta: { projectId: project } });
    const words = JSON.stringify([...endpoint, status, text.replace(/"id":\d+/, "")]);
    return words.replaceAll(project, "NAME");
  };
  const unknown = await answers("nonesuch");
  assert.match(unknown, /There is no project/);
  assert.equal(await answers("numbers"), unknown);
});

Deno.test("_meta.projectId chooses the project of one request", async () => {
  const { text: token } = await guarded.token();
  const visitor = await visit("/mcp?expose=all", token);
  const list = (projectId: string) => visitor.request("tools/list", { _meta: { projectId } });
  assert.doesNotMatch((await list("website")).text, /data_data/);
  assert.doesNotMatch((await list("numbers")).text, /web_web/);
  assert.deepEqual(await visitor.tools(), flat(...NAMES));
  assert.match((await list("nonesuch")).text, /project \\?"nonesuch/);
  const meta = { projectId: "website" };
  assert.match(await visitor.call("web_web_echo", {}, meta), /called web_echo/);
  assert.match(await visitor.call("data_data_echo", {}, meta), /TOOL_NOT_FOUND/);
});

Deno.test("a key from another project is a PROJECT_MISMATCH", async () => {
  const { text: token } = await guarded.token();
  const visitor = await visit("/mcp", token);
  const query = { query: "data echo" };
  const found = await visitor.call("tool_discovery", query, { projectId: "numbers" });
  const keys = [...found.matchAll(/toolKey\\?":\s*\\?"([^"\\]+)/g)].map(([, key]) => key!);
  const execute = (toolKey: string, projectId: string) =>
    visitor.call("tool_execute", { toolKey, arguments: {} }, { projectId });
  const [toolKey] = keys;
  assert.ok(toolKey, found);
  assert.match(await execute(toolKey, "website"), /PROJECT_MISMATCH/);
  assert.match(await execute(toolKey, "numbers"), /called data_echo/);
  // Bound to a project, one does not even learn that there are others.
  const { text: bound } = await guarded.token({ project: "website" });
  const stranger = await visit("/mcp", bound);
  const stolen = await stranger.call("tool_execute", { toolKey, arguments: {} });
  assert.match(stolen, /TOOLKEY_INVALID/);
});

Deno.test("a server that is assigned elsewhere is gone for those who work in a project", async () => {
  const { text: token } = await guarded.token({ project: "website" });
  const visitor = await visit("/mcp?expose=all", token);
  await using stream = await visitor.listen();
  assert.ok((await visitor.tools()).includes("free_free_echo"));
  const atServer = await visit("/servers/free/mcp", token);
  await using listening = await atServer.listen();
  await atServer.tools();
  await guarded.admin.saveProject({ name: "numbers", servers: ["data", "both", "free"] });
  await until(() => stream.text.includes(CHANGED) || undefined);
  assert.deepEqual(await visitor.tools(), flat("web", "both"));
  assert.match(await refusal("/servers/free/mcp", token), /no server "free"/);
  await listening.over();
  await guarded.admin.saveProject({ name: "numbers", servers: ["data", "both"] });
});

Deno.test("/api/projects makes, shows, changes and deletes projects, within limits", async () => {
  const path = "/api/projects/shop";
  assert.equal((await guarded.api("GET", path)).status, 404);
  const made = await guarded.api("PUT", path, { servers: ["web"], description: "The shop" });
  assert.equal(made.status, 200, JSON.stringify(made.value));
  const { value } = await guarded.api("GET", path);
  assert.match(JSON.stringify(value), /"servers":\["web"\]/);
  const { versionstamp } = z.looseObject({
    project: z.looseObject({ versionstamp: z.string() }),
  }).parse(value).project;
  assert.equal((await guarded.api("PUT", path, { servers: [], versionstamp: null })).status, 409);
  assert.equal((await guarded.api("PUT", path, { servers: [], versionstamp })).status, 200);
  assert.equal((await guarded.api("PUT", path, { servers: ["web"], versionstamp })).status, 409);
  assert.equal((await guarded.api("PUT", path, { servers: ["a b"] })).status, 400);
  assert.equal((await guarded.api("PUT", "/api/projects/a%20b", { servers: [] })).status, 400);
  const { id } = await guarded.token({ project: "shop" });
  assert.equal((await guarded.api("DELETE", path)).status, 409);
  assert.equal((await guarded.api("DELETE", `/api/tokens/${id}`)).status, 200);
  assert.equal((await guarded.api("DELETE", `/api/tokens/${id}`)).status, 404);
  assert.equal((await guarded.api("DELETE", path)).status, 200);
  assert.equal((await guarded.api("GET", path)).status, 404);
});
