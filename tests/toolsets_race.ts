import assert from "node:assert/strict";
import { join } from "@std/path";
import fc from "./fast_check.ts";
import * as z from "zod";
import { EndpointClient } from "./faults.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";
import {
  type Event,
  findSerialOrder,
  type Operation,
  type Outcome,
  type Seen,
} from "./serial_order.ts";

const OPERATIONS = 100;
/** Clients that call at the same time, half of them at each gateway. */
const CLIENTS = 10;
const NAMES = ["alpha", "beta", "gamma", "delta"];
const TOOLS = Array.from({ length: 12 }, (_, index) => `tool_${index}`);
/** What a caller may hear when others are at it too. */
const EXPECTED_ERRORS = ["OPERATION_IN_PROGRESS", "CONFLICT", "NOT_FOUND"];

const Listed = z.looseObject({
  toolsets: z.array(z.looseObject({ name: z.string(), description: z.string() })),
  equipped: z.string().nullable(),
});
const Failed = z.looseObject({ errorType: z.string() });
const Unequipped = z.looseObject({ unequipped: z.string().nullable() });

const name = fc.constantFrom(...NAMES);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("build" as const),
      name,
      content: fc.shuffledSubarray(TOOLS, { minLength: 1, maxLength: 5 }).map((tools) =>
        tools.join(" ")
      ),
      replace: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("equip" as const), name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), name }) },
  { weight: 1, arbitrary: fc.constant({ kind: "unequip" as const }) },
);

/** Two gateways on one data folder, with one server behind them. */
export class TwoGateways implements AsyncDisposable {
  readonly #gateways: RunningGateway[];
  readonly #stack: AsyncDisposableStack;

  private constructor(gateways: RunningGateway[], stack: AsyncDisposableStack) {
    this.#gateways = gateways;
    this.#stack = stack;
  }

  static async start(): Promise<TwoGateways> {
    await using stack = new AsyncDisposableStack();
    const inputSchema = { type: "object" };
    const server = stack.use(new ScriptedServer(TOOLS.map((name) => ({ name, inputSchema }))));
    const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_race_" });
    stack.defer(() => Deno.remove(dataDir, { recursive: true }));
    await Deno.writeTextFile(
      join(dataDir, ".mcp.json"),
      JSON.stringify({ mcpServers: { kit: { type: "http", url: server.url } } }),
    );
    // One after the other: the first makes the file that both use.
    const gateways = [];
    for (let count = 0; count < 2; count++) {
      gateways.push(stack.use(await startGateway([], { dataDir })));
    }
    for (const { url } of gateways) {
      const client = await EndpointClient.open(`${url}/mcp?expose=all`);
      await until(async () => (await client.toolNames()).length === TOOLS.length || undefined);
    }
    return new TwoGateways(gateways, stack.move());
  }

  /** Many operations at once, and the proof that what came of them is right. */
  async race(seed: number): Promise<void> {
    await this.#clear();
    const drawn = fc.sample(operation, { numRuns: OPERATIONS, seed });
    // Each build is told from all others by its description.
    const operations = drawn.map((drawn, index) =>
      drawn.kind === "build" ? { ...drawn, content: `${index}: ${drawn.content}` } : drawn
    );
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, (_, index) => this.#client(index % 2)),
    );
    const events: Event[] = [];
    const queue = [...operations];
    await Promise.all(clients.map(async (client) => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const startedAt = performance.now();
        const outcome = await run(client, next);
        events.push({ operation: next, outcome, startedAt, endedAt: performance.now() });
      }
    }));
    try {
      const seen = await this.#agreed();
      await this.#checkLists(seen);
      check(events, seen);
    } catch (error) {
      const history = events.sort((a, b) => a.startedAt - b.startedAt).map(eventText).join("\n");
      throw new Error(`With seed ${seed}:\n${history}`, { cause: error });
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  #client(index: number, path = "/mcp"): Promise<EndpointClient> {
    return EndpointClient.open(`${this.#gateways[index]!.url}${path}`);
  }

  async #clear(): Promise<void> {
    const client = await this.#client(0);
    for (const name of NAMES) await client.call("delete-toolset", { name, confirm: true });
    await this.#agreed();
  }

  /**
   * What both gateways show, once they show the same. That is the end of it: each has taken up all
   * that was done through it, so the one that was called last knows everything.
   */
  async #agreed(): Promise<Seen> {
    const clients = await Promise.all([this.#client(0), this.#client(1)]);
    return await until(async () => {
      const [one, other] = await Promise.all(clients.map(view));
      return one!.text === other!.text ? one!.seen : undefined;
    });
  }

  /** Every endpoint lists the tools of its toolset, and of no other. */
  async #checkLists({ toolsets, equipped }: Seen): Promise<void> {
    for (const index of [0, 1]) {
      for (const [name, content] of toolsets) {
        const endpoint = await this.#client(index, `/toolsets/${name}/mcp`);
        assert.deepEqual(await endpoint.toolNames(), flatNames(content), `toolset ${name}`);
      }
      const listed = await (await this.#client(index)).toolNames();
      const content = equipped === null ? undefined : toolsets.get(equipped);
      assert.deepEqual(
        listed.filter((name) => name.startsWith("kit_")),
        content === undefined ? [] : flatNames(content),
        "what is equipped",
      );
    }
  }
}

async function run(client: EndpointClient, operation: Operation): Promise<Outcome> {
  const { result, error } = await client.call(...callOf(operation));
  assert.ok(result, JSON.stringify(error));
  if (result.isError) return { error: Failed.parse(result.structuredContent).errorType };
  if (operation.kind !== "unequip") return {};
  return { was: Unequipped.parse(result.structuredContent).unequipped };
}

function callOf(operation: Operation): [string, Record<string, unknown>] {
  switch (operation.kind) {
    case "build": {
      const { name, content, replace } = operation;
      const tools = toolsOf(content).map((tool) => `kit.${tool}`);
      return ["build-toolset", { name, description: content, tools, replace }];
    }
    case "equip":
      return ["equip-toolset", { name: operation.name }];
    case "delete":
      return ["delete-toolset", { name: operation.name, confirm: true }];
    case "unequip":
      return ["unequip-toolset", {}];
  }
}

async function view(client: EndpointClient): Promise<{ seen: Seen; text: string }> {
  const { result } = await client.call("list-saved-toolsets");
  const { toolsets, equipped } = Listed.parse(result?.structuredContent);
  const contents = toolsets.map(({ name, description }) => [name, description] as const);
  const text = JSON.stringify([contents, equipped, await client.toolNames()]);
  return { seen: { toolsets: new Map(contents), equipped }, text };
}

function check(events: readonly Event[], seen: Seen): void {
  for (const { outcome } of events) {
    if ("error" in outcome) assert.ok(EXPECTED_ERRORS.includes(outcome.error), outcome.error);
  }
  assert.ok(findSerialOrder(events, seen), `No serial order explains ${inspect(seen)}`);
}

function toolsOf(content: string): string[] {
  return content.replace(/^\d+: /, "").split(" ");
}

function flatNames(content: string): string[] {
  return toolsOf(content).map((tool) => `kit_${tool}`);
}

function inspect({ toolsets, equipped }: Seen): string {
  return JSON.stringify({ toolsets: Object.fromEntries(toolsets), equipped });
}

function eventText({ operation, outcome, startedAt, endedAt }: Event): string {
  const times = `${startedAt.toFixed(1)} to ${endedAt.toFixed(1)}`;
  return `${times} ${JSON.stringify(operation)} => ${JSON.stringify(outcome)}`;
}
