import assert from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import { canonicalText } from "../catalog/catalog_tool.ts";
import { offerOf, ownOffer, toolsListedTo } from "../catalog/listed_to.ts";
import type { ClientProfile } from "../core/client.ts";
import { FakeServer, until } from "../servers/testing/fake_server.ts";
import { startManaged } from "../servers/testing/start_managed.ts";
import { OfferedListsRepository } from "../storage/servers_repository.ts";
import { Store } from "../storage/store.ts";
import { ConditionalTools } from "../trust/conditional_tools.ts";
import { OfferedLists } from "./offered_lists.ts";

const SAMPLING: ClientProfile = { protocolVersion: "2025-11-25", capabilities: { sampling: {} } };
const { signal } = new AbortController();

/** A server that asks each client for its roots, and lists one tool more to those it can sample. */
async function startAsking({ againMs, store }: { againMs?: number; store?: Store } = {}) {
  const fake = new FakeServer();
  const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
  const sampled = new WeakSet<object>();
  fake.handlers.set("initialize", ({ capabilities }, transport) => {
    if (JSON.stringify(capabilities).includes("sampling")) sampled.add(transport);
    transport.ask("1", "roots/list");
    return {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "asking" },
    };
  });
  fake.handlers.set("tools/list", (_, transport) => ({
    tools: [tool("look"), ...(sampled.has(transport) ? [tool("ask")] : [])],
  }));
  const catalog = new Catalog();
  const server = await startManaged(fake, {
    onTools(name, tools) {
      catalog.setListed(name, tools);
      return Promise.resolve(tools.length);
    },
  });
  const conditional = new ConditionalTools();
  const listed: [string, string[]][] = [];
  const records = store && new OfferedListsRepository(store);
  let saving: Promise<void> | undefined;
  const lists = new OfferedLists({
    catalog,
    signal,
    againMs,
    records: records && {
      find: (id) => records.find(id),
      note: (list) => saving = records.note(list),
    },
    onListed(name, offer, tools) {
      const all = catalog.of(name).tools.filter(({ listedTo }) => !listedTo).map(canonicalText);
      conditional.note(name, offer, tools, all);
      const more = conditional.besides(name, all);
      catalog.setListed(
        name,
        [...all, ...Array.from(more.values(), ({ text }) => text)],
        new Map(Array.from(more, ([tool, { listedTo }]) => [tool, listedTo])),
      );
      listed.push([offer, tools.map((text) => JSON.parse(text).name)]);
      return Promise.resolve();
    },
  });
  return {
    fake,
    server,
    catalog,
    lists,
    listed,
    async [Symbol.asyncDispose]() {
      lists[Symbol.dispose]();
      await saving;
      await server[Symbol.asyncDispose]();
    },
  };
}

Deno.test("OfferedLists probes a server once per offer, and closes the connection", async () => {
  await using asking = await startAsking();
  const { fake, server, lists, listed } = asking;
  assert.equal(lists.known([server], { ...SAMPLING, capabilities: {} }, signal), undefined);
  await Promise.all([1, 2].map(() => lists.known([server], SAMPLING, signal)));
  assert.deepEqual(listed, [[offerOf(SAMPLING), ["look", "ask"]]]);
  assert.equal(lists.known([server], SAMPLING, signal), undefined);
  const [shared, probe, ...more] = fake.links;
  assert.deepEqual([shared?.isOver, probe?.isOver, more.length], [false, true, 0]);
  assert.match(probe!.heard.join(), /only lists tools/, "its question was not left open");
});

Deno.test("OfferedLists probes again when the server's list for all has changed, and not soon after a failure", async () => {
  await using asking = await startAsking();
  const { fake, server, catalog, lists, listed } = asking;
  await lists.known([server], SAMPLING, signal);
  catalog.setListed("git", []);
  fake.handlers.set("tools/list", () => {
    throw new Error("It fails");
  });
  await lists.known([server], SAMPLING, signal);
  assert.equal(fake.links.length, 3);
  await until(() => fake.alive.length === 1);
  assert.equal(lists.known([server], SAMPLING, signal), undefined);
  assert.equal(listed.length, 1);
});

Deno.test("OfferedLists probes again a while after a failure, though the list for all is the same", async () => {
  await using asking = await startAsking();
  const { fake, server, lists, listed } = asking;
  const works = fake.handlers.get("tools/list")!;
  fake.handlers.set("tools/list", () => {
    throw new Error("It fails");
  });
  await lists.known([server], SAMPLING, signal);
  await until(() => fake.alive.length === 1);
  fake.handlers.set("tools/list", works);
  assert.equal(lists.known([server], SAMPLING, signal), undefined);
  const { now } = Date;
  Date.now = () => now() + 61_000;
  try {
    await lists.known([server], SAMPLING, signal);
  } finally {
    Date.now = now;
  }
  assert.deepEqual(listed, [[offerOf(SAMPLING), ["look", "ask"]]]);
});

Deno.test("OfferedLists retries by itself after a failure, for clients that list only once", async () => {
  await using asking = await startAsking({ againMs: 1 });
  const { fake, server, lists, listed } = asking;
  const works = fake.handlers.get("tools/list")!;
  fake.handlers.set("tools/list", () => {
    fake.handlers.set("tools/list", works);
    throw new Error("It fails");
  });
  await lists.known([server], SAMPLING, signal);
  assert.deepEqual(listed, []);
  await until(() => listed.length === 1);
  assert.deepEqual(listed, [[offerOf(SAMPLING), ["look", "ask"]]]);
});

Deno.test("OfferedLists reuses stored lists after a restart, unless the server has changed", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const links = async (change: (fake: FakeServer) => void = () => {}) => {
    await using asking = await startAsking({ store });
    const { fake, server, lists, listed } = asking;
    change(fake);
    await server.refreshTools();
    await lists.known([server], SAMPLING, signal);
    assert.deepEqual(listed.at(-1)?.[1].at(-1), "ask");
    return fake.links.length;
  };
  assert.equal(await links(), 2);
  assert.equal(await links(), 1, "the server was not probed again");
  const changed = (fake: FakeServer) => {
    const { handlers } = fake;
    const lists = handlers.get("tools/list")!;
    handlers.set("tools/list", async (params, transport, exchange) => {
      const { tools } = await lists(params, transport, exchange) as { tools: object[] };
      return { tools: [{ name: "new", inputSchema: { type: "object" } }, ...tools] };
    });
  };
  assert.equal(await links(changed), 2, "its list for everyone has changed");
});

Deno.test("OfferedLists.noteOwn() adds tools of clients' own connections while they list them", async () => {
  await using asking = await startAsking();
  const { server, lists, listed } = asking;
  await lists.known([server], SAMPLING, signal);
  const text = (name: string) => JSON.stringify({ name, inputSchema: { type: "object" } });
  const [one, other] = [1, 2].map((id) => ({ profile: SAMPLING, principal: `token:ann#${id}` }));
  const own = (client: typeof one, ...names: string[]) => {
    listed.length = 0;
    lists.noteOwn(server, client!, ["look", "ask", ...names].map(text));
    return listed.map(([, tools]) => tools);
  };
  assert.deepEqual(own(one), [], "no additional tools");
  assert.deepEqual(own(one, "fresh"), [["fresh"]]);
  assert.deepEqual(own(other, "late"), [["fresh", "late"]]);
  assert.deepEqual(own(one), [["late"]]);
  listed.length = 0;
  lists.noteOwn(server, other!, []);
  assert.deepEqual(listed, [[ownOffer(offerOf(SAMPLING), "token:ann"), []]]);
});

Deno.test("OfferedLists.noteOwn() gives one owner's tools to nobody else", async () => {
  await using asking = await startAsking();
  const { server, lists, catalog } = asking;
  await lists.known([server], SAMPLING, signal);
  const text = (name: string, description?: string) =>
    JSON.stringify({ name, description, inputSchema: { type: "object" } });
  const [ann, bob] = ["token:ann", "token:bob"].map((principal) => ({
    profile: SAMPLING,
    principal,
  }));
  const shown = ({ principal }: typeof ann & object) =>
    toolsListedTo(catalog.of("git").tools, offerOf(SAMPLING), principal)
      .map(({ name, definition }) => definition.description ?? name);
  lists.noteOwn(server, ann!, [text("look"), text("ask", "Ann's"), text("fresh", "Ann's")]);
  assert.deepEqual(shown(ann!), ["look", "ask", "Ann's"]);
  assert.deepEqual(shown(bob!), ["look", "ask"]);
  lists.noteOwn(server, bob!, [text("fresh", "Bob's"), text("late")]);
  assert.deepEqual(shown(ann!), ["look", "ask", "Ann's"]);
  assert.deepEqual(shown(bob!), ["look", "ask", "late"], "Ann's definition was first");
  lists.noteOwn(server, ann!, []);
  assert.deepEqual(shown(ann!), ["look", "ask"]);
  assert.deepEqual(shown(bob!).sort(), ["Bob's", "ask", "late", "look"]);
});

Deno.test("OfferedLists.noteOwn() keeps only the newest lists", async () => {
  await using asking = await startAsking();
  const { server, lists, listed } = asking;
  const text = JSON.stringify({ name: "fresh", inputSchema: { type: "object" } });
  const client = (nth: number) => ({
    principal: "token:ann",
    profile: { ...SAMPLING, capabilities: { experimental: { nth } } },
  });
  for (let nth = 0; nth < 101; nth++) lists.noteOwn(server, client(nth), [text]);
  const offers = new Map(listed);
  assert.deepEqual(offers.get(ownOffer(offerOf(client(0).profile), "token:ann")), []);
  assert.deepEqual(offers.get(ownOffer(offerOf(client(100).profile), "token:ann")), ["fresh"]);
});

Deno.test("OfferedLists probes for a few offers of one owner a minute", async () => {
  await using asking = await startAsking();
  const { server, lists } = asking;
  const offering = (nth: number) => ({ ...SAMPLING, capabilities: { experimental: { nth } } });
  for (let nth = 0; nth < 10; nth++) {
    await lists.known([server], offering(nth), signal, "token:a@x");
  }
  assert.equal(lists.known([server], offering(10), signal, "token:a"), undefined);
  assert.ok(lists.known([server], offering(10), signal, "token:b"), "others are not held up");
  await lists.known([server], offering(10), signal, "token:b");
});

Deno.test("offerOf() is the same for the same capabilities, and empty for none", () => {
  const of = (capabilities: Record<string, unknown>) => offerOf({ capabilities });
  assert.equal(of({}), "");
  assert.equal(of({ extensions: {}, experimental: {}, roots: undefined }), "");
  assert.equal(of({ roots: {}, sampling: {} }), of({ sampling: {}, roots: {} }));
  assert.notEqual(of({ roots: {} }), of({ roots: { listChanged: true } }));
  assert.notEqual(of({ extensions: { "io.modelcontextprotocol/ui": {} } }), "");
});

Deno.test("toolsListedTo() gives the same array for the same tools", () => {
  const catalog = new Catalog();
  const text = (name: string) => JSON.stringify({ name, inputSchema: { type: "object" } });
  catalog.setListed("git", [text("look"), text("ask")], new Map([["ask", ["a"]]]));
  const { tools } = catalog.of("git");
  const names = (offer: string) => toolsListedTo(tools, offer).map(({ name }) => name);
  assert.deepEqual([names(""), names("a"), names("b")], [["look"], ["look", "ask"], ["look"]]);
  assert.equal(toolsListedTo(tools, "a"), toolsListedTo(tools, "a"));
  const [look] = tools;
  assert.equal(toolsListedTo([look!], "").length, 1);
});
