import assert from "node:assert/strict";
import pino from "pino";
import { ManagedServer } from "../servers/server.ts";
import {
  canBecome,
  type ContentRules,
  ContentScreen,
  literalsOf,
  parsedLiterals,
  ServerContentScreen,
} from "./content_screen.ts";
import { FakeServer, pause, until } from "../servers/testing/fake_server.ts";

Deno.test("KeptTexts.of() is one for all endpoints, and hears its server once", () => {
  let listeners = 0;
  const server = { name: "git", onBroadcast: () => listeners++ } as unknown as ManagedServer;
  const other = { name: "git", onBroadcast: () => () => {} } as unknown as ManagedServer;
  const kept = new ContentScreen({
    instructions: (_, text) => Promise.resolve(text),
    list: (_server, _kind, result) => Promise.resolve(result),
  });
  const texts = kept.of(server);
  assert.equal(kept.of(server), texts);
  assert.equal(listeners, 1);
  assert.notEqual(kept.of(other), texts, "another server under the same name");
});

/** Lists prompts and resources, and keeps what it was asked. */
class Prompter extends FakeServer {
  readonly asked: string[] = [];
  prompts: { name: string; description: string }[] = [];
  resources: { uri: string; description: string }[] = [];
  resourceTemplates: { uriTemplate: string; description: string }[] = [];
  /** Answers no list before. */
  mayAnswer: Promise<void> = Promise.resolve();

  override async answer(method: string): Promise<object> {
    this.asked.push(method);
    const { prompts, resources, resourceTemplates } = this;
    await this.mayAnswer;
    const serverInfo = { name: "prompter", version: "1" };
    return method === "initialize"
      ? { protocolVersion: "2025-11-25", serverInfo, capabilities: { prompts: {}, resources: {} } }
      : { prompts, resources, resourceTemplates, tools: [] };
  }
}

interface Bench {
  server: ManagedServer;
  /** Lets time pass. */
  wait(ms: number): void;
}

async function withTexts(
  work: (
    texts: ServerContentScreen,
    prompter: Prompter,
    waived: Set<string>,
    bench: Bench,
  ) => Promise<void>,
): Promise<void> {
  const prompter = new Prompter();
  await using server = new ManagedServer({
    server: { name: "prompter", spec: { type: "demo" }, source: { kind: "demo" } },
    log: pino({ level: "silent" }),
    openTransport: (_, events) => prompter.open(events),
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
  });
  server.start();
  const waived = new Set<string>();
  const screen: ContentRules = {
    instructions: (_, text) => Promise.resolve(text),
    list(_server, kind, result) {
      const isHostile = result.includes("hostile") && !waived.has("hostile");
      return Promise.resolve(isHostile ? `{"${kind}":[]}` : result);
    },
  };
  let time = 0;
  const wait = (ms: number) => void (time += ms);
  const texts = new ServerContentScreen(server, screen, () => time);
  await work(texts, prompter, waived, { server, wait });
}

async function refuses(
  texts: ServerContentScreen,
  method: string,
  params: Record<string, unknown>,
  signal = new AbortController().signal,
): Promise<boolean> {
  const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await texts.refusal({ id: 1, method, params, text, signal, send: () => {} });
  return answer !== undefined;
}

function isRefused(texts: ServerContentScreen, name: string): Promise<boolean> {
  return refuses(texts, "prompts/get", { name });
}

const OWN = { name: "own", description: "hostile" };
const GREET = { name: "greet", description: "Greets" };

Deno.test("ServerTexts.refusal() looks at a server's list once, and again when it has another one", async () => {
  await withTexts(async (texts, prompter) => {
    prompter.prompts = [GREET, OWN];
    const lists = () => prompter.asked.filter((method) => method === "prompts/list").length;
    const both = await Promise.all(["greet", "own"].map((name) => isRefused(texts, name)));
    assert.deepEqual(both, [false, true]);
    assert.equal(await isRefused(texts, "unknown"), false, "that is for the server to say");
    assert.equal(lists(), 1);
    prompter.prompts = [{ ...GREET, description: "hostile" }, { ...OWN, description: "Mine" }];
    texts.heard('{"method":"notifications/message"}');
    assert.equal(await isRefused(texts, "own"), true);
    texts.heard('{"method":"notifications/prompts/list_changed"}');
    assert.equal(await isRefused(texts, "own"), false);
    assert.equal(await isRefused(texts, "greet"), true);
    assert.equal(lists(), 2);
  });
});

Deno.test("ServerTexts.refusal() does not forget what a server lists in turns, and minds a waiver", async () => {
  await withTexts(async (texts, prompter, waived) => {
    prompter.prompts = [OWN];
    assert.equal(await isRefused(texts, "own"), true);
    prompter.prompts = [];
    texts.heard('{"method":"notifications/prompts/list_changed"}');
    assert.equal(await isRefused(texts, "own"), true);
    waived.add("hostile");
    assert.equal(await isRefused(texts, "own"), false);
  });
});

Deno.test("ServerTexts.learn() takes up what was listed to one client alone", async () => {
  await withTexts(async (texts) => {
    assert.equal(await isRefused(texts, "own"), false);
    await texts.learn("prompts", `{"id":1,"result":{"prompts":[${JSON.stringify(OWN)}]}}`);
    assert.equal(await isRefused(texts, "own"), true);
  });
});

Deno.test("ServerTexts.refusal() knows a hidden resource by every way to write its URI", async () => {
  await withTexts(async (texts, prompter) => {
    prompter.resources = [
      { uri: "file:///secret", description: "hostile" },
      { uri: "HTTP://Example.org", description: "hostile" },
      { uri: "file:///log/today", description: "Today" },
    ];
    prompter.resourceTemplates = [
      { uriTemplate: "file:///log/{day}", description: "hostile" },
      { uriTemplate: "note:///open/{id}", description: "Notes" },
      { uriTemplate: "NOTE:///closed/{id}", description: "hostile" },
    ];
    const reads = (uri: string) => refuses(texts, "resources/read", { uri });
    for (
      const uri of [
        "file:///secret",
        "FILE:///secret",
        "file:///a/../secret",
        " file:///secret",
        "http://example.org/",
        "file:///a/../log/yesterday",
        "note:///closed/1",
        "note:///open/../closed/1",
      ]
    ) {
      assert.equal(await reads(uri), true, uri);
    }
    for (const uri of ["file:///log/today", "FILE:///log/today", "note:///open/1", "x"]) {
      assert.equal(await reads(uri), false, uri);
    }
  });
});

Deno.test("ServerTexts.refusal() goes by what a completion is of", async () => {
  await withTexts(async (texts, prompter) => {
    prompter.prompts = [GREET, OWN];
    const completes = (ref: object) => refuses(texts, "completion/complete", { ref });
    assert.equal(await completes({ type: "ref/prompt", name: "own" }), true);
    assert.equal(await completes({ type: "ref/prompt", name: "greet" }), false);
    await assert.rejects(completes({ type: "ref/prompt", uri: "x://ok", name: "own" }), {
      code: "INVALID_PARAMS",
    });
  });
});

Deno.test("ServerTexts.refusal() waits for a list the first time, while the client does, and then no more", async () => {
  await withTexts(async (texts, prompter, _, { server, wait }) => {
    await server.connection();
    prompter.prompts = [GREET, OWN];
    const first = Promise.withResolvers<void>();
    prompter.mayAnswer = first.promise;
    const client = new AbortController();
    const gone = refuses(texts, "prompts/get", { name: "own" }, client.signal);
    client.abort(new Error("The client disconnected"));
    await assert.rejects(gone, /The client disconnected/);
    const waiting = isRefused(texts, "own");
    first.resolve();
    assert.equal(await waiting, true);
    const second = Promise.withResolvers<void>();
    prompter.mayAnswer = second.promise;
    prompter.prompts = [{ ...GREET, description: "hostile" }];
    wait(30_000);
    assert.equal(await isRefused(texts, "greet"), false, "what is known counts meanwhile");
    second.resolve();
    const isOver = async () => await isRefused(texts, "greet");
    for (let tries = 0; tries < 10_000 && !await isOver(); tries++) await pause(1);
    assert.equal(await isOver(), true);
    assert.equal(prompter.asked.filter((method) => method === "prompts/list").length, 2);
  });
});

Deno.test("ServerTexts.refusal() looks again where the list became another one meanwhile", async () => {
  await withTexts(async (texts, prompter, _, { server }) => {
    await server.connection();
    const first = Promise.withResolvers<void>();
    prompter.mayAnswer = first.promise;
    prompter.prompts = [GREET];
    const waiting = isRefused(texts, "own");
    const isAsked = () => prompter.asked.includes("prompts/list");
    await until(isAsked);
    prompter.prompts = [GREET, OWN];
    texts.heard('{"method":"notifications/prompts/list_changed"}');
    first.resolve();
    assert.equal(await waiting, true);
  });
});

Deno.test("ServerTexts.learn() leaves what other pages show as it is", async () => {
  await withTexts(async (texts, prompter) => {
    const [one, two] = ["log://one", "log://two"].map((uri) => ({ uri, description: "A log" }));
    prompter.resources = [one!, two!];
    prompter.resourceTemplates = [{ uriTemplate: "log://{day}", description: "hostile" }];
    assert.equal(await refuses(texts, "resources/read", { uri: "log://one" }), false);
    const page = { resources: [two, { uri: "log://three", description: "hostile" }] };
    await texts.learn("resources", JSON.stringify({ id: 1, result: page }));
    assert.equal(await refuses(texts, "resources/read", { uri: "log://one" }), false);
    assert.equal(await refuses(texts, "resources/read", { uri: "log://three" }), true);
  });
});

Deno.test("canBecome() knows the URIs of a template, and takes no time over those made to", () => {
  const note = literalsOf("note://{box}/page/{id}.md");
  assert.equal(canBecome(note, "note://a/page/1.md"), true);
  assert.equal(canBecome(note, "note://a/b/page/1.md"), true);
  for (const uri of ["note://a/1.md", "note://a/page/1.txt", "note://a b/page/1.md", "note://"]) {
    assert.equal(canBecome(note, uri), false, uri);
  }
  assert.equal(canBecome(literalsOf("note://one"), "note://one"), true);
  assert.equal(canBecome(literalsOf("note://one"), "note://one/more"), false);
  const many = literalsOf(`x:${"{a}b".repeat(400)}c`);
  assert.equal(canBecome(many, `x:${"b".repeat(50_000)}`), false);
});

Deno.test("parsedLiterals() reads a template as a URI", () => {
  assert.deepEqual(parsedLiterals(literalsOf("FILE:///a/../{x}/B{y}")), ["file:///", "/B", ""]);
  assert.deepEqual(parsedLiterals(literalsOf("HTTP://{host}")), ["http://", "/"]);
  assert.deepEqual(parsedLiterals(literalsOf("note://one")), ["note://one"]);
  assert.deepEqual(parsedLiterals(literalsOf("{scheme}://one")), ["", "://one"]);
  assert.equal(parsedLiterals(literalsOf("no uri")), undefined);
});
