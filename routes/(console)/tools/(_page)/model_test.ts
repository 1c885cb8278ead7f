import assert from "node:assert/strict";
import { stubGateway, type StubInput } from "../../../../lib/console/testing/stub_gateway.ts";
import { toolsPage } from "./model.ts";

const servers = [
  { name: "zoo", tools: [{ name: "feed", description: "Feed an animal", isOff: true }] },
  {
    name: "air",
    tools: [{ name: "forecast" }, { name: "alerts", description: "Storm warnings for a storm" }],
  },
];

function open(query: string, input: StubInput = {}) {
  return toolsPage(stubGateway({ servers, ...input }), new URLSearchParams(query));
}

async function names(query: string): Promise<string[]> {
  return (await open(query)).list.rows.map(({ server, name }) => `${server}.${name}`);
}

Deno.test("toolsPage() sorts by each of its columns, then by name", async () => {
  assert.deepEqual(await names(""), ["air.alerts", "air.forecast", "zoo.feed"]);
  assert.deepEqual(await names("dir=desc"), ["zoo.feed", "air.alerts", "air.forecast"]);
  assert.deepEqual(await names("sort=name"), ["air.alerts", "zoo.feed", "air.forecast"]);
  assert.deepEqual((await names("sort=tokens&dir=desc"))[0], "air.alerts");
});

Deno.test("toolsPage() sorts by use, errors and last use", async () => {
  const at = Date.now();
  const call = (tool: string, more: object = {}) => ({
    at: at - 60_000,
    server: "air",
    tool,
    ms: 1,
    ok: true,
    ...more,
  });
  const calls = [
    call("forecast"),
    call("forecast"),
    call("alerts", { ok: false }),
    { ...call("feed", { at: at - 40 * 60 * 60_000 }), server: "zoo" },
  ];
  const rows = async (sort: string) => {
    const { list } = await open(`sort=${sort}&dir=desc`, { calls });
    return list.rows.map(({ name, use }) => `${name} ${use?.calls} ${use?.errors}`);
  };
  assert.deepEqual(await rows("calls"), ["forecast 2 0", "alerts 1 1", "feed 0 0"]);
  assert.deepEqual((await rows("errors"))[0], "alerts 1 1");
  assert.deepEqual((await rows("used")).at(-1), "feed 0 0");
  const { list } = await open("sort=used", { calls });
  assert.equal(list.rows[0]?.use?.lastAt, at - 40 * 60 * 60_000);
});

Deno.test("toolsPage() ranks as the engine does, with its reason", async () => {
  const { list: { rows: [first] } } = await open("q=storm");
  assert.equal(first?.name, "alerts");
  assert.deepEqual(first?.match, { relevance: 1, explanation: "storm in its text" });
});

Deno.test("toolsPage() also finds letters of a word, and what is off", async () => {
  assert.deepEqual(await names("q=warn"), ["air.alerts"]);
  assert.deepEqual(await names("q=zoo+animal"), ["zoo.feed"]);
  const { list: { rows: [first] } } = await open("q=warn");
  assert.deepEqual(first?.match, { explanation: "Contains these letters" });
});

Deno.test("toolsPage() filters by server, category and state", async () => {
  assert.deepEqual(await names("server=air&q=fore"), ["air.forecast"]);
  assert.deepEqual(await names("server=nowhere"), []);
  assert.deepEqual(await names("state=disabled"), ["zoo.feed"]);
  assert.deepEqual(await names("state=disabled&q=feed"), ["zoo.feed"]);
  assert.deepEqual(await names("state=enabled&q=feed"), []);
  const { categories } = await open("");
  for (const { value, count } of categories) {
    assert.equal((await names(`category=${value}`)).length, count, value);
  }
});

Deno.test("toolsPage() filters by what is promoted and by what is invalid, with counts", async () => {
  const promotion = {
    id: "1",
    server: "air",
    toolName: "alerts",
    candidateId: "c",
    promotedAt: "2026-01-31T12:00:00.000Z",
    description: "Warns of storms",
    by: "person" as const,
    canonicalDescription: null,
  };
  const input: StubInput = {
    promotions: [promotion, { ...promotion, toolName: "gone" }],
    invalid: [{ server: "zoo", name: "odd", text: '{"name":"odd"}', problem: "inputSchema" }],
  };
  const shown = async (query: string) => {
    const { list } = await open(query, input);
    return list.rows.map(({ server, name }) => `${server}.${name}`);
  };
  const page = await open("state=promoted", input);
  assert.deepEqual([page.state, page.promoted, page.invalid], ["promoted", 1, 1]);
  assert.deepEqual(page.list.rows.map(({ name, isPromoted }) => [name, isPromoted]), [
    ["alerts", true],
  ]);
  assert.deepEqual(await shown("state=promoted&q=fore"), []);
  assert.deepEqual(await shown("state=promoted&q=storm"), ["air.alerts"]);
  const { list: { rows: [invalid] } } = await open("state=invalid", input);
  assert.deepEqual([invalid?.name, invalid?.problem], ["odd", "It has no input schema"]);
  assert.deepEqual(await shown("state=invalid&server=air"), []);
  assert.deepEqual(await shown("state=invalid&q=od"), ["zoo.odd"]);
  assert.equal((await open("state=nonsense", input)).state, undefined);
});

Deno.test("toolsPage() counts all tools, whatever the filter", async () => {
  const page = await open("q=storm");
  assert.deepEqual([page.total, page.disabled, page.list.total], [3, 1, 1]);
  assert.deepEqual(page.servers, [{ value: "air", count: 2 }, { value: "zoo", count: 1 }]);
});

Deno.test("toolsPage() says what is still being counted, and does not wait for it", async () => {
  const counting = await open("", { isCounting: true });
  assert.deepEqual(counting.tokens, { counted: 0, isCounting: true });
  assert.ok(counting.list.rows.every(({ tokens }) => tokens === undefined));
  const { tokens, list } = await open("");
  assert.equal(tokens.isCounting, false);
  const on = list.rows.filter(({ isEnabled }) => isEnabled);
  assert.equal(tokens.counted, on.reduce((sum, row) => sum + (row.tokens ?? 0), 0));
});

Deno.test("toolsPage() says why a search is not at its best", async () => {
  assert.equal((await open("q=storm", { degraded: "no embeddings" })).degraded, "no embeddings");
  assert.equal((await open("q=storm")).degraded, undefined);
});

Deno.test("toolsPage() tells how far the reading of meanings is, until it is done", async () => {
  const progress = { backend: "local", state: "working" as const, done: 2, total: 3 };
  assert.deepEqual((await open("", { progress })).reading, { done: 2, total: 3 });
  const ready = { ...progress, state: "ready" as const };
  assert.equal((await open("", { progress: ready })).reading, undefined);
});

Deno.test("toolsPage() shows one page of 5,000 tools, soon enough", async () => {
  const description = "Does a thing that takes a sentence to tell. ".repeat(20);
  const servers = Array.from({ length: 400 }, (_, index) => ({
    name: `server${index}`,
    tools: Array.from({ length: 13 }, (_, index) => ({ name: `tool_${index}`, description })),
  }));
  const large = stubGateway({ servers });
  for (const query of ["sort=name", "q=sent&page=2"]) {
    const page = await toolsPage(large, new URLSearchParams(query));
    assert.equal(page.list.rows.length, 100);
    assert.equal(page.list.total, 5_200);
  }
});

Deno.test("toolsPage() marks what waits for a decision, and lists what no client gets", async () => {
  const waiting: StubInput["waiting"] = [
    { server: "air", tool: "alerts", state: "held" },
    { server: "air", tool: "added", state: "held" },
    { server: "zoo", tool: "poison", state: "quarantined" },
  ];
  const rows = async (query: string) =>
    (await open(query, { waiting })).list.rows.map(({ name, wait, isServed }) =>
      `${name} ${wait ?? ""} ${isServed}`
    );
  assert.deepEqual(await rows("server=air"), ["alerts held true", "forecast  true"]);
  assert.deepEqual(await rows("state=held"), ["added held false", "alerts held false"]);
  assert.deepEqual(await rows("state=held&q=add"), ["added held false"]);
  assert.deepEqual(await rows("state=quarantined"), ["poison quarantined false"]);
  assert.deepEqual((await open("", { waiting })).waiting, { quarantined: 1, held: 2 });
});
