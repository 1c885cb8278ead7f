/** What must arrive between any client and any server: each feature of the matrix, as a cell tries it. */
import assert from "node:assert/strict";
import { QUESTIONS } from "./fixtures/matrix_world.ts";
import { ANSWERS, type MatrixClient, type Revision } from "./matrix_clients.ts";

/** Far more than any cell takes. */
export const CELL_LIMIT_MS = 20_000;

export interface Cell {
  client: MatrixClient;
  revisions: { client: Revision; server: Revision };
  /** The server's name, which all its answers carry. */
  server: string;
  /** What the endpoint calls a tool or a prompt of the server. */
  named(name: string): string;
  /** Nobody else's in this run. */
  id: string;
  /** The endpoint lists tools that the server adds later. */
  listsNewTools: boolean;
}

type Feature = (cell: Cell) => Promise<void>;

export const FEATURES: Record<string, Feature> = {
  async list({ client, named }) {
    const names = (await client.tools()).map(({ name }) => name);
    for (const name of ["echo", "ask", "show"]) {
      assert.ok(names.includes(named(name)), names.join());
    }
  },

  async call({ client, named, server, id }) {
    assert.equal(await client.call(named("echo"), { id }), `${server}: {"id":"${id}"}`);
  },

  async progress({ client, named, id }) {
    const progressToken = `steps-${id}`;
    await client.call(named("progress"), {}, { progressToken });
    const steps = () => client.heard.filter((line) => line.startsWith(progressToken));
    await until("3 steps", () => steps().length === 3);
    assert.deepEqual(steps(), [1, 2, 3].map((step) => `${progressToken} ${step}/3`));
  },

  async cancel({ client, named, server, id }) {
    const cancel = new AbortController();
    const progressToken = `sleep-${id}`;
    const options = { progressToken, signal: cancel.signal };
    const sleeping = client.call(named("sleep"), { id }, options);
    const ended = assert.rejects(sleeping);
    await until("the call runs", () => client.heard.includes(`${progressToken} 0/1`));
    cancel.abort();
    await ended;
    const isCancelled = async () =>
      await client.call(named("cancelled"), { id }) === `${server}: true`;
    await until("cancelled at the server", isCancelled);
  },

  ...Object.fromEntries(QUESTIONS.map((kind): [string, Feature] => [
    kind === "form" || kind === "url" ? `elicitation (${kind})` : kind,
    async ({ client, named, server }) => {
      assert.equal(await client.call(named("ask"), { kind }), `${server}: ${ANSWERS[kind]}`);
    },
  ])),

  async resources({ client, server }) {
    const text = await client.read(await noteOf(client, server));
    assert.match(text, new RegExp(`^note://matrix/static of ${server}, touched`));
    const templates = await client.templates();
    const { uriTemplate } = one(templates, ({ name }) => name === `template of ${server}`);
    const expanded = await client.read(uriTemplate.replace("{id}", "7"));
    assert.match(expanded, new RegExp(`^note://matrix/by-id/7 of ${server}, touched`));
  },

  async subscribe({ client, named, server }) {
    const uri = await noteOf(client, server);
    await client.subscribe(uri);
    await client.call(named("touch"), {});
    await until("the update", () => client.heard.includes(`updated ${uri}`));
  },

  async prompts({ client, named, server }) {
    one(await client.prompts(), ({ name }) => name === named("greet"));
    const text = await client.prompt(named("greet"), { who: "Ada" });
    assert.equal(text, `greet Ada from ${server}`);
  },

  async completion({ client, named, server }) {
    const ref = { type: "ref/prompt" as const, name: named("greet") };
    const values = await client.complete(ref, { name: "who", value: "A" });
    assert.deepEqual(values, [`A of ${server}`]);
    const templates = await client.templates();
    const { uriTemplate: uri } = one(templates, ({ name }) => name === `template of ${server}`);
    const others = await client.complete(
      { type: "ref/resource", uri },
      { name: "id", value: "7" },
    );
    assert.deepEqual(others, [`7 of ${server}`]);
  },

  async logging({ client, named, server }) {
    await client.call(named("log"), {}, { logLevel: "info" });
    await until("the message", () => client.heard.includes(`log: log of ${server}`));
  },

  async "list changes"({ client, named, id, listsNewTools }) {
    await client.listen();
    const lists = {
      prompts: async () => (await client.prompts()).map(({ name }) => name),
      resources: async () => (await client.resources()).map(({ name }) => name),
      ...(listsNewTools
        ? { tools: async () => (await client.tools()).map(({ name }) => name) }
        : {}),
    };
    for (const [list, names] of Object.entries(lists)) {
      const add = `${list}${id}`;
      client.heard.length = 0;
      await client.call(named("change"), { list, add });
      await until(`${list} changed`, () => client.heard.includes(`${list} changed`));
      const expected = list === "resources" ? add : named(add);
      await until(`${expected} listed`, async () => (await names()).includes(expected));
    }
  },

  async tasks({ client, named, server, revisions }) {
    if (revisions.client !== revisions.server) {
      // The two revisions have no tasks in common: the gateway waits for the server's.
      assert.equal(await client.call(named("job"), {}), `${server}: worked`);
      if (revisions.client === "2025-11-25") return;
    }
    // A slow call of the older server is a task of the gateway's.
    const file = await Deno.makeTempFile();
    await Deno.remove(file);
    const id = await client.startTask(named("work"), { until: file });
    await Deno.writeTextFile(file, "");
    await until("completed", async () => await client.taskStatus(id) === "completed");
    assert.equal(await client.taskText(id), `${server}: worked`);
    await Deno.remove(file);
    const endless = await client.startTask(named("work"), { until: file, endless: true });
    assert.equal(await client.taskStatus(endless), "working");
    await client.cancelTask(endless);
    await until("cancelled", async () => await client.taskStatus(endless) === "cancelled");
  },

  async apps({ client, named, server }) {
    const { _meta } = one(await client.tools(), ({ name }) => name === named("show"));
    const uri = _meta?.ui?.resourceUri ?? "";
    assert.match(uri, /^ui:/);
    assert.equal(await client.read(uri), `<h1>${server}</h1>`);
  },
};

async function noteOf(client: MatrixClient, server: string): Promise<string> {
  return one(await client.resources(), ({ name }) => name === `note of ${server}`).uri;
}

function one<T>(items: T[], isIt: (item: T) => boolean): T {
  const found = items.filter(isIt);
  assert.equal(found.length, 1, `found ${found.length} in ${JSON.stringify(items)}`);
  return found[0]!;
}

async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const over = Date.now() + CELL_LIMIT_MS / 2; !await isTrue();) {
    if (Date.now() > over) throw new Error(`Not seen within ${CELL_LIMIT_MS / 2} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
