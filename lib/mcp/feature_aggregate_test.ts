import assert from "node:assert/strict";
import { notificationText, resultText } from "../core/rpc.ts";
import type { ManagedServer } from "../servers/server.ts";
import { GivenLinksRepository } from "../storage/servers_repository.ts";
import { Store } from "../storage/store.ts";
import { FeatureAggregate, type FeatureAggregateOptions } from "./feature_aggregate.ts";
import { GivenLinks } from "./given_links.ts";
import type { McpRequest } from "../core/client.ts";

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
  return featuresWith(60, ...names);
}

function featuresWith(maxNameLength: number, ...names: string[]) {
  return featuresIn({ maxNameLength }, ...names);
}

function featuresIn(
  more: Pick<FeatureAggregateOptions, "maxNameLength" | "links">,
  ...names: string[]
) {
  const known = new Map(names.map((name) => [name, fakeServer(name)]));
  const asked: Asked[] = [];
  /** Servers that fail whatever they are asked. */
  const failing = new Set<string>();
  let shown = names;
  let connected: string[] = [];
  const features = new FeatureAggregate({
    ...more,
    servers: () => shown.map((name) => known.get(name)!),
    callable: () => names.map((name) => known.get(name)!),
    connected: () => connected.map((name) => known.get(name)!),
    list(_, request) {
      const lists: Record<string, string> = {
        "resources/list": '{"resources":[{"uri":"a://b","name":"b"}]}',
        "prompts/list": '{"prompts":[{"name":"greet"}]}',
      };
      return Promise.resolve(resultText(request.id, lists[request.method] ?? "{}"));
    },
    call(server, request, params) {
      const { method } = request;
      asked.push({ server: server.name, method, params: JSON.parse(params ?? "{}") });
      if (failing.has(server.name)) return Promise.reject(new Error("It fails"));
      return Promise.resolve(resultText(request.id, "{}"));
    },
  });
  const request = (method: string, params: Record<string, unknown> = {}) =>
    features.request(requestOf(method, params));
  const show = (...names: string[]) => shown = names;
  const connect = (...names: string[]) => connected = names;
  const server = (name: string) => known.get(name)!;
  return { features, asked, failing, request, show, connect, server };
}

function requestOf(
  method: string,
  params: Record<string, unknown>,
  send: (text: string) => void = () => {},
): McpRequest {
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
  const outer = requestOf("tools/call", {}, (text) => heard.push(text));
  features.requestFor("two", outer).send(updated);
  assert.deepEqual(heard, [updated.replace("a://b", uri)], "all else as it came");
  features.requestFor("one", outer).send(updated);
  const other = updated.replace("a://b", "quartermaster://one/a://b");
  assert.equal(heard[1], other, "of another server's resource, which is not listed");

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
  assert.match(await request("prompts/get", { name: "two_greets" }) ?? "", /There is no prompt/);
  show("two");
  await request("resources/read", { uri: "a://b" });
  await request("prompts/get", { name: "two_greet" });
  await request("prompts/get", { name: "one.greet" });
  assert.deepEqual(asked.map(({ server, method }) => `${server} ${method}`), [
    "two resources/read",
    "two prompts/get",
    "one prompts/get",
  ], "also what can be called and is not listed");
});

Deno.test("CombinedFeatures keeps a subscription when a second one for the same URI fails", async () => {
  const { features, failing, request, show } = featuresOf("one", "two");
  const uri = "quartermaster://two/a://b";
  await request("resources/subscribe", { uri });
  failing.add("two");
  await assert.rejects(request("resources/subscribe", { uri }), /It fails/);
  show("two");
  await request("resources/list");
  const heard: string[] = [];
  const outer = requestOf("tools/call", {}, (text) => heard.push(text));
  features.requestFor("two", outer).send(updated);
  assert.deepEqual(heard, [updated.replace("a://b", uri)]);
});

Deno.test("CombinedFeatures tells a log level to servers in use, and to others with their first use", async () => {
  const { features, asked, request, connect, server } = featuresOf("one", "two");
  const told = () => asked.splice(0).map(({ server, params }) => `${server} ${params.level}`);
  const use = (name: string) => features.prepare(server(name), requestOf("tools/call", {}));
  assert.match(await request("logging/setLevel", { level: "error" }) ?? "", /"result":{}/);
  assert.deepEqual(told(), [], "nobody need be started for it");
  await use("two");
  await use("two");
  assert.deepEqual(told(), ["two error"]);
  connect("two");
  await request("logging/setLevel", { level: "debug" });
  assert.deepEqual(told(), ["two debug"]);
  await use("one");
  await use("two");
  assert.deepEqual(told(), ["one debug"]);
  assert.match(await request("logging/setLevel", { level: "loud" }) ?? "", /-32602/);
  assert.match(await request("logging/setLevel", {}) ?? "", /-32602/);
});

Deno.test("CombinedFeatures.prepare() tries again to set a log level that could not be set", async () => {
  const { features, asked, failing, request, server } = featuresOf("one");
  await request("logging/setLevel", { level: "error" });
  const use = () => features.prepare(server("one"), requestOf("tools/call", {}));
  failing.add("one");
  await use();
  failing.clear();
  await use();
  await use();
  assert.equal(asked.length, 2);
});

Deno.test("CombinedFeatures cuts the names of prompts as those of tools, and still finds them", async () => {
  const server = "a-server-with-a-long-name";
  const { asked, request } = featuresWith(24, server);
  const { result: { prompts: [prompt] } } = JSON.parse(await request("prompts/list") ?? "");
  assert.match(prompt.name, /^a_server_with_a_l_[0-9a-f]{6}$/);
  for (const name of [prompt.name, `${server}.greet`]) await request("prompts/get", { name });
  const got = asked.filter(({ method }) => method === "prompts/get");
  assert.deepEqual(got.map(({ params }) => params.name), ["greet", "greet"]);
});

Deno.test("CombinedFeatures reads a page at the server that its URI names, listed or not", async () => {
  const { request, asked, show } = featuresOf("one", "two");
  show();
  await request("resources/read", { uri: "ui://two.quartermaster/clock/page.html" });
  assert.deepEqual(asked, [
    { server: "two", method: "resources/read", params: { uri: "ui://clock/page.html" } },
  ]);
  for (const uri of ["ui://clock/page.html", "ui://three.quartermaster/clock/page.html"]) {
    assert.match(await request("resources/read", { uri }) ?? "", /There is no resource/);
  }
  assert.equal(asked.length, 1);
});

Deno.test("CombinedFeatures leads each of two servers' equal links back to its own server", async () => {
  const { features, asked, request, server } = featuresOf("one", "two");
  const uri = "file:///home/ann/notes.txt";
  const link = (name: string) =>
    features.shown(
      server(name),
      requestOf("tools/call", {}),
      resultText(1, JSON.stringify({ content: [{ type: "resource_link", name: "n", uri }] })),
    );
  const uriIn = (text: string) => JSON.parse(text).result.content[0].uri;
  const [first, second] = [uriIn(await link("one")), uriIn(await link("two"))];
  assert.deepEqual([first, second], [uri, `quartermaster://two/${uri}`]);
  assert.equal(uriIn(await link("one")), uri, "the first keeps it");
  for (const uri of [first, second]) await request("resources/read", { uri });
  const reads = asked.filter(({ method }) => method === "resources/read");
  assert.deepEqual(reads.map(({ server, params }) => [server, params.uri]), [["one", uri], [
    "two",
    uri,
  ]]);
});

Deno.test("CombinedFeatures says how to name the server of a file that another session was given", async () => {
  const { request, asked } = featuresOf("one", "two");
  const uri = "file:///home/ann/notes.txt";
  const { message } = JSON.parse(await request("resources/read", { uri }) ?? "{}").error;
  assert.match(
    message,
    /name that server: quartermaster:\/\/SERVER\/file:\/\/\/home\/ann\/notes.txt/,
  );
  assert.match(message, /one of one, two$/);
  await request("resources/read", { uri: `quartermaster://two/${uri}` });
  assert.deepEqual(asked.at(-1)?.params, { uri });
});

Deno.test("CombinedFeatures knows in every session which server gave its caller a link", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const uri = "file:///home/ann/notes.txt";
  const session = (principal: string) =>
    featuresIn(
      {
        maxNameLength: 60,
        links: new GivenLinks(new GivenLinksRepository(store)).of(principal),
      },
      "one",
      "two",
    );
  const give = async (principal: string, name: string) => {
    const { features, server, request } = session(principal);
    const content = JSON.stringify({ content: [{ type: "resource_link", name: "n", uri }] });
    await features.shown(server(name), requestOf("tools/call", {}), resultText(1, content));
    // It is found once it is written.
    await request("resources/read", { uri: "file:///other" });
  };
  const read = async (principal: string) => {
    const { asked, request } = session(principal);
    const answer = await request("resources/read", { uri });
    return { answer, servers: asked.map(({ server }) => server) };
  };
  await give("ann", "two");
  assert.deepEqual((await read("ann")).servers, ["two"]);
  const { answer, servers } = await read("bob");
  assert.match(answer ?? "", /There is no resource/, "another caller was given nothing");
  assert.deepEqual(servers, []);
  await give("ann", "one");
  await assert.rejects(read("ann"), /2 servers have the resource/);
});
