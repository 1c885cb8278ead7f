import assert from "node:assert/strict";
import { notificationText, resultText } from "../core/rpc.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import { CombinedFeatures } from "./combined_features.ts";
import type { RequestScope } from "./surface.ts";

interface Asked {
  server: string;
  method: string;
  params: Record<string, unknown>;
}

function fakeServer(name: string): ManagedServer {
  const capabilities = { resources: {}, prompts: {}, logging: {} };
  return { name, info: { capabilities } } as unknown as ManagedServer;
}

/** Features of servers that all have the resource a://b and the prompt greet. */
function featuresOf(...names: string[]) {
  const known = new Map(names.map((name) => [name, fakeServer(name)]));
  const asked: Asked[] = [];
  let shown = names;
  const features = new CombinedFeatures({
    servers: () => shown.map((name) => known.get(name)!),
    call(server, scope, method, params) {
      if (method === "resources/list") {
        return Promise.resolve(resultText(scope.id, '{"resources":[{"uri":"a://b"}]}'));
      }
      if (method === "prompts/list") {
        return Promise.resolve(resultText(scope.id, '{"prompts":[{"name":"greet"}]}'));
      }
      if (!method.endsWith("/list")) {
        asked.push({ server: server.name, method, params: JSON.parse(params ?? "{}") });
      }
      return Promise.resolve(resultText(scope.id, "{}"));
    },
  });
  const request = (method: string, params: Record<string, unknown> = {}) =>
    features.request(scopeOf(method, params));
  const show = (...names: string[]) => shown = names;
  return { features, asked, request, show, server: (name: string) => known.get(name)! };
}

function scopeOf(
  method: string,
  params: Record<string, unknown>,
  send: (text: string) => void = () => {},
): RequestScope {
  const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return { id: 1, method, params, text, signal: new AbortController().signal, send };
}

const updated = notificationText("notifications/resources/updated", '{"uri":"a://b","x":1.0}');

Deno.test("CombinedFeatures sends updates under the URI subscribed to, however lists have changed", async () => {
  const { features, asked, request, show } = featuresOf("one", "two");
  const uri = "quartermaster://two/a://b";
  await request("resources/subscribe", { uri });
  assert.deepEqual(asked, [{
    server: "two",
    method: "resources/subscribe",
    params: { uri: "a://b" },
  }]);
  show("two");
  await request("resources/list");
  const heard: string[] = [];
  const scope = scopeOf("tools/call", {}, (text) => heard.push(text));
  features.scopeFor("two", scope).send(updated);
  assert.deepEqual(heard, [updated.replace("a://b", uri)], "all else as it came");
  features.scopeFor("one", scope).send(updated);
  assert.equal(heard[1], updated, "of another server's resource");

  show("one", "two");
  await request("resources/unsubscribe", { uri });
  assert.deepEqual([asked.at(-1)?.server, asked.at(-1)?.params.uri], ["two", "a://b"]);
});

Deno.test("CombinedFeatures ends a subscription where it was made", async () => {
  const { asked, request, show } = featuresOf("one", "two");
  show("two");
  await request("resources/subscribe", { uri: "a://b" });
  show("one", "two");
  await request("resources/list");
  await request("resources/unsubscribe", { uri: "a://b" });
  assert.deepEqual(asked.map(({ server, method }) => `${server} ${method}`), [
    "two resources/subscribe",
    "two resources/unsubscribe",
  ]);
});

Deno.test("CombinedFeatures finds what servers have that have just come", async () => {
  const { asked, request, show } = featuresOf("one", "two");
  show("one");
  await request("resources/list");
  await request("prompts/list");
  assert.match(await request("prompts/get", { name: "two_greet" }) ?? "", /There is no prompt/);
  show("two");
  await request("resources/read", { uri: "a://b" });
  await request("prompts/get", { name: "two_greet" });
  assert.deepEqual(asked.map(({ server, method }) => `${server} ${method}`), [
    "two resources/read",
    "two prompts/get",
  ]);
  assert.match(await request("prompts/get", { name: "one_greet" }) ?? "", /There is no prompt/);
});

Deno.test("CombinedFeatures.prepare() has a server log as the client wants it by now", async () => {
  const { features, asked, request, show, server } = featuresOf("one", "two");
  await request("logging/setLevel", { level: "error" });
  show("one");
  await request("logging/setLevel", { level: "debug" });
  await features.prepare(server("two"), scopeOf("tools/call", {}));
  await features.prepare(server("two"), scopeOf("tools/call", {}));
  assert.deepEqual(asked.map(({ server, params }) => `${server} ${params.level}`), [
    "one error",
    "two error",
    "one debug",
    "two debug",
  ]);
});
