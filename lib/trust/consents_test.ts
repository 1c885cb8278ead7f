import assert from "node:assert/strict";
import type { AuditedChange } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerStatus } from "../core/server.ts";
import { ConsentsRepository } from "../storage/consents_repository.ts";
import { AesBox } from "../storage/sealing.ts";
import { Store } from "../storage/store.ts";
import { type ConsentNeeded, Consents, MOST_CONSENTS, type Wish } from "./consents.ts";

const STEERING = { _JAVA_OPTIONS: "-javaagent:/x.jar", SSH_ASKPASS: "/x" };
const DAY = 24 * 60 * 60_000;

class Bench implements AsyncDisposable {
  readonly applied: string[] = [];
  readonly audits: AuditedChange[] = [];
  /** Those that another gateway has added meanwhile. */
  readonly servers: ServerStatus[] = [];
  readonly consents: Consents;
  now = 1_000;
  failure: Error | undefined;
  /** After each look for a server. */
  onFind = () => {};
  changes = 0;
  readonly #store: Store;

  private constructor(store: Store) {
    this.#store = store;
    const box = () => AesBox.of(new Uint8Array(32).fill(1));
    this.consents = new Consents({
      repository: new ConsentsRepository(store, box),
      async sign(text) {
        const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
        return new Uint8Array(hash, 0, 8).toHex();
      },
      address: "http://here",
      find: (name) => {
        const found = this.servers.find((server) => server.name === name);
        this.onFind();
        return found;
      },
      apply: ({ name }) => {
        if (this.failure) return Promise.reject(this.failure);
        this.applied.push(name);
        return Promise.resolve({ name, state: "ready" } as ServerStatus);
      },
      onAudit: (entry) => void this.audits.push(entry),
      onChanged: () => void this.changes++,
      now: () => this.now,
    });
  }

  static async open(): Promise<Bench> {
    return new Bench(await Store.open({ location: ":memory:" }));
  }

  async ask(wish: Partial<Wish> = {}, args = ["-y", "thing"]): Promise<ConsentNeeded> {
    return await this.consents.ask({
      wish: "add",
      name: "files",
      spec: {
        type: "stdio",
        command: "npx",
        args,
        env: { API_KEY: "canary", LD_PRELOAD: "/x.so", ...STEERING },
      },
      origin: { via: "mcp", principal: "token:a", from: "MCP at /gateway" },
      ...wish,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }
}

Deno.test("Consents.ask() keeps a wish, runs nothing, and says who has to agree where", async () => {
  await using bench = await Bench.open();
  const told = await bench.ask({}, ["--password=canary-arg"]);
  assert.equal(told.code, "CONSENT_NEEDED");
  const [waiting] = await bench.consents.list(true);
  const steps = told.toBody().recoverySteps.join("\n");
  assert.match(steps, /http:\/\/here\/security\/consents/);
  assert.match(steps, new RegExp(`consent approve ${waiting?.id}`));
  assert.doesNotMatch(told.message, /canary/);
  assert.deepEqual(bench.applied, []);
  assert.equal(bench.changes, 1);
});

Deno.test("Consents.list() shows the whole argv, and of variables only what can decide what is run", async () => {
  await using bench = await Bench.open();
  await bench.ask({}, ["--password=canary-arg"]);
  const [whole] = await bench.consents.list(true);
  assert.deepEqual(whole?.argv, ["npx", "--password=canary-arg"]);
  assert.deepEqual(whole?.variables, [
    { name: "API_KEY" },
    { name: "LD_PRELOAD", value: "/x.so" },
    { name: "_JAVA_OPTIONS", value: "-javaagent:/x.jar" },
    { name: "SSH_ASKPASS", value: "/x" },
  ]);
  assert.deepEqual(whole?.origin, { via: "mcp", principal: "token:a", from: "MCP at /gateway" });
  const [masked] = await bench.consents.list(false);
  assert.doesNotMatch(JSON.stringify(masked), /canary/);
});

Deno.test("Consents.ask() keeps the same wish once, and another one beside it", async () => {
  await using bench = await Bench.open();
  await bench.ask();
  bench.now += DAY;
  await bench.ask({ origin: { via: "api" } });
  assert.equal(await bench.consents.count(), 1);
  assert.equal((await bench.consents.list(true))[0]?.expiresAt, 1_000 + 7 * DAY);
  await bench.ask({ wish: "change" });
  await bench.ask({}, ["-y", "other"]);
  await bench.ask({ name: "more" });
  assert.equal(await bench.consents.count(), 4);
});

Deno.test("Consents.ask() lets no more than so many wait, until they are decided or run out", async () => {
  await using bench = await Bench.open();
  for (let nth = 0; nth < MOST_CONSENTS; nth++) await bench.ask({}, [String(nth)]);
  const isFull = (error: unknown) =>
    error instanceof GatewayError && error.code === "LIMIT_EXCEEDED";
  await assert.rejects(bench.ask({}, ["one more"]), isFull);
  assert.equal((await bench.ask({}, ["0"])).code, "CONSENT_NEEDED", "one that waits already");
  bench.now += 7 * DAY;
  assert.deepEqual(await bench.consents.list(true), []);
  assert.equal((await bench.ask({}, ["one more"])).code, "CONSENT_NEEDED");
});

Deno.test("Consents.approve() can be tried again until it works, and counts once", async () => {
  await using bench = await Bench.open();
  await bench.ask();
  const [{ id } = { id: "" }] = await bench.consents.list(true);
  assert.deepEqual(bench.applied, []);
  bench.failure = new GatewayError("SERVER_DISCONNECTED");
  await assert.rejects(bench.consents.approve(id), /not connected/);
  assert.equal(await bench.consents.count(), 1, "it can be tried again");
  bench.failure = undefined;
  await bench.consents.approve(id);
  assert.deepEqual(bench.applied, ["files"]);
  await assert.rejects(bench.consents.approve(id), /Consent request not found/);
  assert.deepEqual(bench.audits.map(({ action }) => action), ["consent.ask", "consent.approve"]);
  assert.doesNotMatch(JSON.stringify(bench.audits), /canary/);
});

Deno.test("Consents.approve() and refuse() know nothing of what has run out or was refused", async () => {
  await using bench = await Bench.open();
  await bench.ask();
  const [{ id } = { id: "" }] = await bench.consents.list(true);
  assert.equal(await bench.consents.refuse(id), "files");
  await assert.rejects(bench.consents.approve(id), /Consent request not found/);
  await bench.ask();
  bench.now += 7 * DAY;
  await assert.rejects(bench.consents.approve(id), /Consent request not found/);
  await assert.rejects(bench.consents.refuse("../servers"), /Consent request not found/);
  assert.deepEqual(bench.applied, []);
});

const LOCAL: Wish["spec"] = {
  type: "http",
  url: "http://0x7f000001:4000/mcp?token=abc-canary-value",
  headers: { "X-Key": "canary" },
};

Deno.test("Consents shows where a server on this machine is, without its secrets", async () => {
  await using bench = await Bench.open();
  const { message, link, details } = await bench.ask({ name: "near", spec: LOCAL });
  const [view] = await bench.consents.list(true);
  assert.equal(link, `http://here/security/consents#consent-${view!.id}`);
  assert.match(
    message,
    /connecting to http:\/\/127\.0\.0\.1:4000\/mcp\S* on the gateway's own machine/,
  );
  assert.ok(message.includes(link) && details.recoverySteps![0]!.includes(link));
  assert.deepEqual([view!.argv, view!.variables], [[], [{ name: "X-Key" }]]);
  assert.match(view!.url!, /^http:\/\/127\.0\.0\.1:4000\/mcp/);
  assert.doesNotMatch(JSON.stringify([view, bench.audits, message]), /canary/);
  await bench.consents.approve(view!.id);
  assert.deepEqual(bench.applied, ["near"]);
});

Deno.test("ConsentNeeded.decided() reports the decision to every waiting caller, whichever gateway made it", async () => {
  await using bench = await Bench.open();
  const never = new AbortController().signal;
  const ids = async () => (await bench.consents.list(false)).map(({ id }) => id);
  const waiting = [(await bench.ask()).decided(never), (await bench.ask()).decided(never)];
  await bench.consents.approve((await ids())[0]!);
  const states = (await Promise.all(waiting)).map((decision) =>
    decision && "server" in decision ? decision.server.state : decision
  );
  assert.deepEqual(states, ["ready", "ready"]);

  const refused = (await bench.ask()).decided(never);
  await bench.consents.refuse((await ids())[0]!);
  assert.deepEqual(await refused, { refused: "files" });

  const stopped = new AbortController();
  const ended = (await bench.ask()).decided(stopped.signal);
  stopped.abort();
  assert.equal(await ended, undefined);

  const elsewhere = (await bench.ask()).decided(never);
  bench.now += 8 * DAY;
  // Known here only after it was first seen that somebody has decided.
  const files = { name: "files", state: "ready" } as ServerStatus;
  bench.onFind = () => void bench.servers.push(files);
  assert.deepEqual(await elsewhere, { server: files });
});
