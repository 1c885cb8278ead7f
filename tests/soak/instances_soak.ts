/**
 * Clients behind nginx in front of three gateways, one of which is killed again and again:
 * `deno run -A --lock=tests/deno.lock tests/soak/instances_soak.ts [MINUTES] [CLIENTS]` (default: 10
 * and 500). No answer may be wrong, no save that was answered may be lost, and only what was in flight
 * at the killed gateway may fail.
 */
import assert from "node:assert/strict";
import * as z from "zod";
import { at } from "../combined_endpoints.ts";
import { Answer, pause } from "../faults.ts";
import { startHttpFixture } from "../fixtures/start_fixture.ts";
import { findNginx, Nginx } from "../nginx.ts";
import { bearer, Guarded } from "../security/guarded.ts";

const PATH = "/servers/one/mcp?names=original";
const META = "io.modelcontextprotocol";
const SAVERS = 6;
const SAVE_MS = 200;
const KILL_EVERY_MS = 20_000;
const REQUEST_MS = 60_000;
const Saved = z.looseObject({ toolset: z.looseObject({ description: z.string() }) });

interface LoadOptions {
  clients: number;
  /** Of all clients together. */
  callsPerSecond: number;
  kills: number;
  killEveryMs: number;
}

interface LoadReport {
  /** Calls by revision, and saves. */
  answered: Map<string, number>;
  /** What was in flight at a gateway when it was killed. */
  lost: Map<string, number>;
  wrong: string[];
  /** What the gateways logged as warnings and errors. */
  warnings: string[];
  durations: number[];
}

/** One request, with when it was under way and which gateways nginx tried. */
interface Sent {
  text: string;
  status: number;
  upstreams: string[];
  startedAt: number;
  endedAt: number;
}

class Load {
  readonly report: LoadReport = {
    ...{ answered: new Map(), lost: new Map(), wrong: [], warnings: [] },
    durations: [],
  };
  readonly #url: string;
  readonly #guarded: Guarded;
  readonly #urls: string[];
  readonly #options: LoadOptions;
  readonly #kills: { host: string; from: number; to: number }[] = [];
  readonly #saved = new Map<string, number>();
  #isOver = false;

  constructor(url: string, guarded: Guarded, urls: string[], options: LoadOptions) {
    this.#url = url;
    this.#guarded = guarded;
    this.#urls = urls;
    this.#options = options;
  }

  async run(): Promise<LoadReport> {
    const { clients, kills, killEveryMs } = this.#options;
    for (let nth = 0; nth < SAVERS; nth++) await this.#create(`saved_${nth}`);
    const load = [
      ...Array.from({ length: clients }, (_, nth) => this.#callOn(nth)),
      ...Array.from(this.#saved.keys(), (name) => this.#saveOn(name)),
    ];
    const working = Promise.all(load);
    for (let nth = 0; nth < kills; nth++) {
      await pause(killEveryMs / 2);
      const url = this.#urls[nth % this.#urls.length]!;
      const kill = { host: new URL(url).host, from: performance.now(), to: Infinity };
      this.#kills.push(kill);
      await this.#guarded.kill(url);
      kill.to = performance.now();
      await this.#guarded.start(url);
      await pause(killEveryMs / 2);
    }
    this.#isOver = true;
    await working;
    for (const url of this.#urls) {
      for (const name of this.#saved.keys()) await this.#checkSaved(url, name);
    }
    this.report.warnings = this.#guarded.log.split("\n")
      .filter((line) => /"level":"(warn|error)"/.test(line));
    return this.report;
  }

  async #callOn(nth: number): Promise<void> {
    const { clients, callsPerSecond } = this.#options;
    const revision = nth % 2 ? "2025-11-25" : "2026-07-28";
    const everyMs = clients / callsPerSecond * 1_000;
    await pause(Math.random() * everyMs);
    let session: string | undefined;
    for (let count = 0; !this.#isOver; count++) {
      const mark = `${nth} ${count}`;
      if (revision === "2025-11-25" && session === undefined) {
        session = await this.#open(mark);
        if (session === undefined) continue;
      }
      const sent = await this.#call(revision, count + 1, mark, session);
      if (this.#isLost(sent, `call of ${revision}`)) continue;
      this.#check(sent, mark);
      add(this.report.answered, revision);
      this.report.durations.push(sent.endedAt - sent.startedAt);
      await pause(everyMs * (0.5 + Math.random()));
    }
  }

  /** The id of a session; undefined if its gateway was killed. */
  async #open(mark: string): Promise<string | undefined> {
    const clientInfo = { name: "load", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    let session: string | undefined;
    const sent = await this.#post({ id: 0, method: "initialize", params }, {}, (headers) => {
      session = headers.get("mcp-session-id") ?? undefined;
    });
    if (this.#isLost(sent, "initialize")) return undefined;
    if (session === undefined) this.report.wrong.push(`${mark}: ${sent.status} ${sent.text}`);
    return session;
  }

  #call(revision: string, id: number, mark: string, session: string | undefined): Promise<Sent> {
    const call = { name: "echo", arguments: { mark } };
    if (session !== undefined) {
      return this.#post({ id, method: "tools/call", params: call }, { "mcp-session-id": session });
    }
    const _meta = {
      [`${META}/protocolVersion`]: revision,
      [`${META}/clientInfo`]: { name: "load", version: "1" },
      [`${META}/clientCapabilities`]: {},
    };
    return this.#post({ id, method: "tools/call", params: { ...call, _meta } }, {
      "mcp-protocol-version": revision,
      "mcp-method": "tools/call",
      "mcp-name": "echo",
    });
  }

  #post(message: object, headers: Record<string, string>, onHeaders?: (headers: Headers) => void) {
    const accept = "application/json, text/event-stream";
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    return this.#send("POST", PATH, { body, headers: { accept, ...headers }, onHeaders });
  }

  /** Never throws: an answer that broke off has status 0. */
  async #send(method: string, path: string, { body, headers = {}, onHeaders }: {
    body?: string;
    headers?: Record<string, string>;
    onHeaders?: ((headers: Headers) => void) | undefined;
  }): Promise<Sent> {
    const sent: Sent = {
      text: "",
      status: 0,
      upstreams: [],
      startedAt: performance.now(),
      endedAt: 0,
    };
    try {
      const response = await fetch(this.#url + path, {
        method,
        headers: {
          "content-type": "application/json",
          ...bearer(this.#guarded.owner),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      sent.upstreams = (response.headers.get("x-upstream") ?? "").split(", ");
      onHeaders?.(response.headers);
      sent.text = await response.text();
      sent.status = response.status;
    } catch (error) {
      sent.text += String(error);
    }
    sent.endedAt = performance.now();
    return sent;
  }

  /** Whether a request failed because its gateway was killed in the meantime. */
  #isLost({ status, upstreams, startedAt, endedAt }: Sent, what: string): boolean {
    if (status !== 0 && status !== 502) return false;
    const isLost = this.#kills.some(({ host, from, to }) =>
      upstreams.includes(host) && startedAt <= to && endedAt >= from
    );
    if (isLost) add(this.report.lost, what);
    return isLost;
  }

  #check({ text, status, upstreams }: Sent, mark: string): void {
    const last = text.startsWith("{") ? text : text.slice(text.lastIndexOf("data: {") + 6);
    const { result } = parsed(last);
    const found = result?.content?.[0]?.text;
    if (result?.isError !== true && found === JSON.stringify({ mark })) return;
    const wrong = `${mark}, answered by ${upstreams}: ${status} ${text.slice(0, 300)}`;
    this.report.wrong.push(wrong);
  }

  async #create(name: string): Promise<void> {
    const body = JSON.stringify({ name, description: "0", tools: ["one.echo"] });
    const { status, text } = await this.#send("POST", "/api/toolsets", { body });
    assert.equal(status, 201, text);
    this.#saved.set(name, 0);
  }

  /** Saves one toolset again and again; only its own worker does. */
  async #saveOn(name: string): Promise<void> {
    for (let version = 1; !this.#isOver; version++) {
      const body = JSON.stringify({ description: String(version), tools: ["one.echo"] });
      const sent = await this.#send("PUT", `/api/toolsets/${name}`, { body });
      // One that was not answered may have been made.
      if (this.#isLost(sent, "save")) {
        continue;
      }
      if (sent.status < 300) {
        this.#saved.set(name, version);
        add(this.report.answered, "saves");
      } else this.report.wrong.push(`save of ${name}: ${sent.status} ${sent.text.slice(0, 300)}`);
      await pause(SAVE_MS);
    }
  }

  async #checkSaved(url: string, name: string): Promise<void> {
    const response = await this.#guarded.get(`/api/toolsets/${name}`, {
      url,
      token: this.#guarded.owner,
    });
    const found = Number(Saved.parse(await response.json()).toolset.description);
    const least = this.#saved.get(name)!;
    if (found < least) this.report.wrong.push(`${name}: ${found} is stored, ${least} was answered`);
  }
}

/** Three gateways behind nginx under load. */
export async function loadInstances(options: LoadOptions): Promise<LoadReport> {
  const program = await findNginx();
  assert.ok(program, "nginx is not installed");
  await using server = await startHttpFixture("chaos_http");
  await using nginx = await Nginx.start(program);
  const flags = ["--require-token", "--public-url", nginx.url];
  await using guarded = await Guarded.open({ one: at(server, "/s/one/mcp") }, flags);
  const urls = [guarded.url, await guarded.start(), await guarded.start()];
  await nginx.serve(urls);
  return await new Load(nginx.url, guarded, urls, options).run();
}

function parsed(text: string): Answer {
  try {
    return Answer.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function listed(counts: ReadonlyMap<string, number>): string {
  return Array.from(counts, ([name, times]) => `${name} ${times}`).join("; ");
}

if (import.meta.main) {
  const [minutes = 10, clients = 500] = Deno.args.map(Number);
  const kills = Math.ceil(minutes * 60_000 / KILL_EVERY_MS);
  const started = performance.now();
  const report = await loadInstances({
    clients,
    callsPerSecond: 150,
    kills,
    killEveryMs: KILL_EVERY_MS,
  });
  const { answered, lost, wrong, warnings } = report;
  const durations = report.durations.sort((a, b) => a - b);
  const part = (share: number) => durations[Math.floor(share * durations.length)]?.toFixed(0);
  const lines = [
    `${clients} clients, ${kills} kills in ${
      ((performance.now() - started) / 60_000).toFixed(1)
    } min`,
    `answered: ${listed(answered)}`,
    `in flight at a killed gateway: ${listed(lost)}`,
    `calls took ${part(0.5)} ms (median), ${part(0.95)} ms (95 %), ${part(0.99)} ms (99 %)`,
    `warnings in the log: ${warnings.length}`,
    ...warnings.slice(0, 5).map((line) => line.slice(0, 300)),
    ...wrong.slice(0, 20).map((line) => `WRONG: ${line}`),
    `wrong: ${wrong.length}`,
  ];
  Deno.stdout.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
  assert.equal(wrong.length, 0);
}
