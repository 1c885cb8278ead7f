/**
 * Mixed load while servers, clients and the gateway itself misbehave:
 * `deno run -A --lock=tests/deno.lock tests/soak/chaos_soak.ts [MINUTES]` (default: 45).
 * Every save that was answered must be there, no answer may be wrong, and once the chaos is over the
 * gateway must hold as little as before.
 */
import assert from "node:assert/strict";
import { BenchClient } from "../../bench/mcp_client.ts";
import { Answer, chaos, type Entries, FaultyGateway, pause } from "../faults.ts";
import { fixtureCommand, startHttpFixture } from "../fixtures/start_fixture.ts";
import { until } from "../gateway.ts";

/** Servers that are called, by how they are reached. */
const CALLED = ["pipe", "web", "older"];
const TOOLSETS = 6;
/** kill -9 of the gateway: how often, within the first third; once if the soak is short. */
const KILLS = 3;
const BETWEEN_MS = 2_000;
/** A flood, a slow client and a burst of idle ones last so long at most. */
const LONGEST_MS = 10_000;
const IDLE_CLIENTS = 200;
/** Within which the gateway gives back what it does not need. */
const REST_MS = 40_000;
const MORE_MB = 60;
const MORE_DESCRIPTORS = 10;
/** Of calls to a server that is being killed, reloaded or restarted. */
const TOLERATED = new Set([
  ...["SERVER_DISCONNECTED", "SERVER_STARTING", "SERVER_NOT_RUNNING", "SERVER_NOT_FOUND"],
  ...["TIMEOUT", "LIMIT_EXCEEDED", "TOOL_NOT_FOUND"],
]);

interface Use {
  mb: number;
  descriptors: number;
  processes: number;
}

class Soak implements AsyncDisposable {
  readonly answered = new Map<string, number>();
  /** By the code of the error; calls that the gateway's end cut off among them. */
  readonly failed = new Map<string, number>();
  readonly wrong: string[] = [];
  /** By toolset: the last save that was answered. */
  readonly saved = new Map<string, number>();
  readonly did = new Map<string, number>();
  readonly #entries: Entries;
  readonly #dataDir: string;
  #faulty: FaultyGateway;
  #isOver = false;
  /** Between the end of one gateway and the start of the next. */
  #isAway = false;

  private constructor(entries: Entries, dataDir: string, faulty: FaultyGateway) {
    this.#entries = entries;
    this.#dataDir = dataDir;
    this.#faulty = faulty;
  }

  static async open(entries: Entries): Promise<Soak> {
    const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_soak_" });
    const soak = new Soak(entries, dataDir, await FaultyGateway.start(entries, { dataDir }));
    await soak.#ready();
    for (let index = 0; index < TOOLSETS; index++) {
      const body = { name: `soak_${index}`, description: "0", tools: ["pipe.echo"] };
      const response = await soak.#send("POST", "/api/toolsets", body);
      assert.ok(response.ok, await response.text());
      soak.saved.set(`soak_${index}`, 0);
    }
    return soak;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#faulty[Symbol.asyncDispose]();
    await Deno.remove(this.#dataDir, { recursive: true });
  }

  /** Load and chaos until the time is up; what the gateway used before, and at several moments. */
  async run(minutes: number): Promise<{ uses: Use[]; rest: [before: Use, after: Use] }> {
    const start = performance.now();
    const elapsed = () => (performance.now() - start) / (minutes * 60_000);
    const load = [
      ...CALLED.flatMap((server) => [
        this.#callOn(server, "2025-11-25"),
        this.#callOn(server, "2026-07-28"),
      ]),
      ...Array.from(this.saved.keys(), (name) => this.#saveOn(name)),
    ];
    const uses: Use[] = [];
    const most = minutes < 5 ? 1 : KILLS;
    let before = await this.#use();
    for (let kills = 0; elapsed() < 1;) {
      if (kills < most && elapsed() > (kills + 1) / (3 * most)) {
        await this.#killGateway();
        kills++;
        await this.#checkSaves();
        before = await this.#use();
        uses.length = 0;
      }
      await this.#misbehave();
      uses.push(await this.#use());
      await pause(BETWEEN_MS);
    }
    this.#isOver = true;
    await Promise.all(load);
    await this.#checkSaves();
    await this.#ready();
    const after = await this.#rest(before);
    return { uses, rest: [before, after] };
  }

  /** Waits until the gateway has given back what only the load needed. */
  async #rest(before: Use): Promise<Use> {
    const end = performance.now() + REST_MS;
    for (;;) {
      const use = await this.#use();
      const isBack = use.mb <= before.mb && use.descriptors <= before.descriptors;
      if (isBack || performance.now() > end) return use;
      await pause(1_000);
    }
  }

  async #use(): Promise<Use> {
    const { pid } = this.#faulty.gateway;
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    const descriptors = await Array.fromAsync(Deno.readDir(`/proc/${pid}/fd`));
    return {
      mb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
      descriptors: descriptors.length,
      processes: (await this.#faulty.processes()).length,
    };
  }

  async #ready(): Promise<void> {
    for (const name of Object.keys(this.#entries)) await this.#faulty.reaches(name, "ready");
  }

  #send(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(new URL(path, this.#faulty.url), {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
  }

  /** Calls one server again and again, and checks each answer. */
  async #callOn(server: string, revision: "2025-11-25" | "2026-07-28"): Promise<void> {
    const path = `${server}, ${revision}`;
    let client: { call(args: object): Promise<Answer> } | undefined;
    for (let count = 0; !this.#isOver; count++) {
      const mark = `${path} ${count}`;
      try {
        client ??= await this.#open(server, revision);
        this.#take(path, mark, await client.call({ mark }));
      } catch (error) {
        client = undefined;
        this.#lose(error);
        await pause(100);
      }
      await pause(10);
    }
  }

  async #open(server: string, revision: "2025-11-25" | "2026-07-28") {
    if (revision === "2025-11-25") {
      const client = await this.#faulty.open(server);
      return { call: (args: object) => client.call("echo", { ...args }) };
    }
    const url = `${this.#faulty.url}/servers/${server}/mcp?names=original`;
    const client = await new BenchClient(url, undefined, revision).connect();
    return {
      async call(args: object) {
        const text = await client.request("tools/call", { name: "echo", arguments: args });
        // The last event of a stream, if it is one.
        const json = text.startsWith("{") ? text : text.slice(text.lastIndexOf("data: {") + 6);
        return Answer.parse(JSON.parse(json));
      },
    };
  }

  #take(path: string, mark: string, { result, error }: Answer): void {
    const text = result?.content?.[0]?.text ?? "";
    if (result && !result.isError) {
      const isRight = path.startsWith("older") ? text === "echo" : text.includes(`"${mark}"`);
      if (!isRight) this.wrong.push(`${mark}: ${text}`);
      count(this.answered, path);
      return;
    }
    const code = result?.structuredContent?.errorType ?? error?.message ?? "";
    count(this.failed, code);
    // A session that ended with its gateway is not an error of a call.
    const isSession = /session/i.test(code);
    if (!TOLERATED.has(code) && !isSession) this.wrong.push(`${mark}: ${code} ${text}`);
    if (isSession) throw new Error("The session has ended");
  }

  #lose(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    count(this.failed, this.#isAway ? "gateway away" : message.slice(0, 80));
  }

  /** Saves one toolset again and again; only its own worker does. */
  async #saveOn(name: string): Promise<void> {
    for (let version = 1; !this.#isOver; version++) {
      try {
        const body = { description: String(version), tools: ["pipe.echo"] };
        const response = await this.#send("PUT", `/api/toolsets/${name}`, body);
        await response.text();
        if (response.ok) {
          this.saved.set(name, version);
          count(this.answered, "saves");
        } else count(this.failed, `save ${response.status}`);
      } catch (error) {
        this.#lose(error);
      }
      await pause(50);
    }
  }

  /** One that was not answered may be there as well. */
  async #checkSaves(): Promise<void> {
    for (const name of this.saved.keys()) {
      const least = this.saved.get(name)!;
      const response = await this.#send("GET", `/api/toolsets/${name}`);
      const { toolset } = await response.json();
      const found = Number(toolset.description);
      if (!(found >= least)) this.wrong.push(`${name}: ${found} is stored, ${least} was answered`);
    }
    count(this.did, "check of all saves");
  }

  async #misbehave(): Promise<void> {
    const ways = {
      "kill -9 of a program": () => this.#killProgram(),
      "reload": () => this.#reload(),
      "flood over http": () => this.#flood("flooder", "progress"),
      "flood over stdio": () => this.#flood("pouring", "logs"),
      "slow clients": () => this.#holdConnections("POST /mcp HTTP/1.1\r\nHost: "),
      "idle clients": () => this.#holdConnections(""),
    };
    const names = Object.keys(ways) as (keyof typeof ways)[];
    const name = names[Math.floor(Math.random() * names.length)]!;
    count(this.did, name);
    try {
      await ways[name]();
    } catch (error) {
      count(this.failed, `${name}: ${String(error).slice(0, 80)}`);
    }
  }

  async #killProgram(): Promise<void> {
    const client = await this.#faulty.open("pipe");
    const { result } = await client.call("pid");
    const { pid } = JSON.parse(result?.content?.[0]?.text ?? "{}");
    if (pid !== undefined) Deno.kill(pid, "SIGKILL");
  }

  async #reload(): Promise<void> {
    await this.#faulty.configure({ ...this.#entries, extra: chaos(["--tools=50"]) });
    await this.#faulty.reaches("extra", "ready");
    await this.#faulty.writeRaw("{ broken");
    await this.#faulty.configure(this.#entries);
    await until(async () => !(await this.#faulty.statuses()).has("extra") || undefined);
  }

  async #flood(server: string, kind: string): Promise<void> {
    const client = await this.#faulty.open(server);
    const params = { name: "flood", arguments: { kind }, _meta: { progressToken: 1 } };
    await client.request("tools/call", params, AbortSignal.timeout(LONGEST_MS)).catch(() => {});
  }

  async #holdConnections(start: string): Promise<void> {
    const port = Number(new URL(this.#faulty.url).port);
    const held: Deno.Conn[] = [];
    try {
      for (let opened = 0; opened < IDLE_CLIENTS; opened++) {
        const conn = await Deno.connect({ hostname: "127.0.0.1", port });
        held.push(conn);
        if (start !== "") await conn.write(new TextEncoder().encode(start));
      }
      await pause(LONGEST_MS / 4);
    } finally {
      for (const conn of held) conn.close();
    }
  }

  async #killGateway(): Promise<void> {
    count(this.did, "kill -9 of the gateway");
    this.#isAway = true;
    const killed = this.#faulty;
    await killed.gateway.stop("SIGKILL");
    this.#faulty = await FaultyGateway.start(this.#entries, { dataDir: this.#dataDir });
    await this.#ready();
    this.#isAway = false;
    // The next gateway ends what the killed one has left.
    await until(async () => (await killed.processes()).length === 0 || undefined);
    await killed[Symbol.asyncDispose]();
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function report(...lines: string[]): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
}

function listed(counts: ReadonlyMap<string, number>): string {
  return Array.from(counts, ([name, times]) => `${name} ${times}`).join("; ");
}

function textOf({ mb, descriptors, processes }: Use): string {
  return `${mb.toFixed(0)} MB, ${descriptors} descriptors, ${processes} processes`;
}

/** The median of one quarter of the samples. */
function quarter(uses: readonly Use[], nth: number): number {
  const size = Math.floor(uses.length / 4);
  const values = uses.slice(nth * size, (nth + 1) * size).map(({ mb }) => mb).sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) {
  const minutes = Number(Deno.args[0] ?? 45);
  await using web = await startHttpFixture("chaos_http");
  await using flooding = await startHttpFixture("flooding_server");
  await using soak = await Soak.open({
    pipe: chaos(),
    web: { type: "http", url: web.url },
    older: { type: "sse", url: `${flooding.url}/sse` },
    flooder: { type: "http", url: `${flooding.url}/mcp` },
    pouring: fixtureCommand("flooding_server"),
  });
  const { uses, rest: [before, after] } = await soak.run(minutes);
  const quarters = [0, 1, 2, 3].map((nth) => quarter(uses, nth));
  report(
    `${minutes} minutes; answered: ${listed(soak.answered)}`,
    `did: ${listed(soak.did)}`,
    `failed: ${listed(soak.failed)}`,
    `after the last kill: ${textOf(before)}`,
    `memory by quarter of the time since: ${quarters.map((mb) => mb.toFixed(0)).join(", ")} MB`,
    `at rest afterwards: ${textOf(after)}`,
    ...soak.wrong.slice(0, 20).map((line) => `WRONG: ${line}`),
  );
  assert.deepEqual(soak.wrong, []);
  assert.equal(soak.answered.size, CALLED.length * 2 + 1, "every path was answered");
  assert.ok(quarters[3]! - quarters[1]! < MORE_MB, "memory is flat under load");
  assert.ok(after.mb - quarters[0]! < MORE_MB, "memory comes back");
  assert.ok(after.descriptors - before.descriptors <= MORE_DESCRIPTORS, "no descriptor is left");
  assert.ok(after.processes <= before.processes, "no process is left");
}
