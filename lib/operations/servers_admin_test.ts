import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { ProgramServer, RemoteServer, type ServerSpec } from "../core/server.ts";
import { ServersRepository } from "../storage/servers_repository.ts";
import { Store } from "../storage/store.ts";
import type { Wish } from "../trust/consents.ts";
import { type ServerActor, UNKNOWN_ACTOR } from "../auth/grants.ts";
import { ServersAdmin, type ServersAdminOptions } from "./servers_admin.ts";

const CLI_ACTOR: ServerActor = { via: "cli", isHere: true };

Deno.test("ServersAdmin.add() shows the last lines of a server that fails, cut and masked", async () => {
  const secret = "correct-horse-battery";
  const options:
    & Pick<ServersAdminOptions, "refusal" | "addressRefusal" | "openTransport">
    & object = {
      refusal: () => Promise.resolve(undefined),
      addressRefusal: () => Promise.resolve(undefined),
      openTransport: (_server, { onLog }) => {
        for (let nth = 0; nth < 50; nth++) {
          onLog(`${nth} ${"x".repeat(490)}${secret}${"y".repeat(2_000)}`, "stderr");
        }
        throw new Error("It broke");
      },
    };
  const admin = new ServersAdmin({
    ...options,
    pool: { find: () => undefined },
    added: { find: () => Promise.resolve(undefined) },
  } as unknown as ServersAdminOptions);
  const spec = { type: "stdio" as const, command: "x", args: [], env: { TOKEN: secret } };
  await assert.rejects(admin.add("git", spec, { by: CLI_ACTOR }), (error) => {
    assert.ok(error instanceof GatewayError);
    const lines = (error.toBody().hint ?? "").replace("Output: ", "").split("\n");
    assert.deepEqual(lines.map((line) => line.split(" ")[0]), ["45", "46", "47", "48", "49"]);
    for (const line of lines) {
      assert.equal(line.length, 500);
      assert.match(line, /x\*\*\*y+…$/);
    }
    return true;
  });
});

Deno.test("ServersAdmin.repair() resumes a server that was paused, as a restart does", async () => {
  const done: string[] = [];
  const known = {
    server: { name: "known", spec: ProgramServer.parse({ type: "stdio", command: "npx" }) },
    restart: async (repair: () => Promise<void>) => {
      await repair();
      done.push("restarted");
    },
  };
  const admin = new ServersAdmin({
    pool: { resolve: () => known },
    paused: {
      set(name: string, isPaused: boolean) {
        done.push(`${name} ${isPaused ? "paused" : "resumed"}`);
        return Promise.resolve(true);
      },
    },
    sync: () => Promise.resolve(void done.push("in step")),
    findPackageCache: () =>
      Promise.resolve(() => Promise.resolve(void done.push("removed its packages"))),
  } as unknown as ServersAdminOptions);
  await admin.repair("known");
  assert.deepEqual(done, ["known resumed", "in step", "removed its packages", "restarted"]);
});

/** An admin of one stored program; keeps what is asked of its owner, and fails when it connects. */
function adminOf(stored: ServerSpec) {
  const asked: string[] = [];
  const opened: string[] = [];
  const wished: ServerSpec[] = [];
  const entry = { name: "known", spec: stored, addedAt: 1 };
  const known = { server: { ...entry, source: { kind: "store" } } };
  const admin = new ServersAdmin({
    refusal: () => Promise.resolve(undefined),
    addressRefusal: (spec: ServerSpec) =>
      Promise.resolve("url" in spec && !spec.allowPrivate ? "not there" : undefined),
    openTransport({ name }: { name: string }) {
      opened.push(name);
      throw new Error("It was connected to");
    },
    askConsent({ wish, name, spec, origin }: Wish) {
      asked.push(`${wish} ${name} ${origin.via}`);
      wished.push(spec);
      return Promise.resolve(new GatewayError("CONSENT_NEEDED"));
    },
    pool: {
      find: (name: string) => name === "known" ? known : undefined,
      resolve: () => known,
    },
    added: {
      find: (name: string) => Promise.resolve(name === "known" ? {} : undefined),
      resolve: () => Promise.resolve({ value: entry, versionstamp: "1" }),
      save: () => Promise.reject(new Error("It was stored")),
    },
  } as unknown as ServersAdminOptions);
  return { admin, asked, opened, wished };
}

const PROGRAM = ProgramServer.parse({ type: "stdio", command: "run", env: { A: "b" } });
const BY_MODEL: ServerActor = { via: "mcp", isHere: false };

Deno.test("ServersAdmin has the owner asked about every program of another's, and connects to none", async () => {
  const { admin, asked, opened } = adminOf(PROGRAM);
  const isAsked = (error: unknown) =>
    error instanceof GatewayError && error.code === "CONSENT_NEEDED";
  await assert.rejects(admin.add("x", PROGRAM), isAsked);
  await assert.rejects(admin.add("x", PROGRAM, { by: BY_MODEL }), isAsked);
  await assert.rejects(admin.add("x", PROGRAM, { by: BY_MODEL, check: false }), isAsked);
  await assert.rejects(
    admin.update("known", { ...PROGRAM, args: ["-c"] }, { by: BY_MODEL }),
    isAsked,
  );
  await assert.rejects(admin.update("known", { ...PROGRAM, env: { A: "c" } }), isAsked);
  const removed = { entry: { name: "x", spec: PROGRAM, addedAt: 1 }, enabled: null, tools: [] };
  await assert.rejects(admin.restore(removed, BY_MODEL), isAsked);
  assert.deepEqual(asked, [
    "add x api",
    "add x mcp",
    "add x mcp",
    "change known mcp",
    "change known api",
    "add x mcp",
  ]);
  assert.deepEqual(opened, []);
});

Deno.test("ServersAdmin asks nobody about what is run already, or was seen at the machine", async () => {
  const { admin, asked, opened } = adminOf(PROGRAM);
  const isTried = /It was connected to/;
  await assert.rejects(admin.add("x", PROGRAM, { by: CLI_ACTOR }), isTried);
  await assert.rejects(admin.add("x", PROGRAM, { by: { ...BY_MODEL, hasAgreed: true } }), isTried);
  const masked = { ...PROGRAM, env: { A: "***" }, lazy: true };
  await assert.rejects(admin.update("known", masked, { by: UNKNOWN_ACTOR }), isTried);
  assert.deepEqual([asked, opened], [[], ["x", "x", "known"]]);
});

Deno.test("ServersAdmin connects to no address that may not be reached, and says how to allow it", async () => {
  const { admin, opened, asked } = adminOf(PROGRAM);
  const remote = { type: "http" as const, url: "http://10.0.0.1:1/", headers: {} };
  const local = { ...remote, url: "http://127.0.0.1:1/" };
  const refused: [ServerSpec, ServerActor][] = [[remote, BY_MODEL], [local, UNKNOWN_ACTOR]];
  for (
    const [check, [spec, by]] of [true, false].flatMap((check) =>
      refused.map((each) => [check, each] as const)
    )
  ) {
    await assert.rejects(admin.add("x", spec, { check, by }), (error) => {
      assert.ok(error instanceof GatewayError && error.code === "ACCESS_DENIED");
      assert.match(error.toBody().recoverySteps.join(), /--allow-private/);
      return true;
    });
  }
  assert.deepEqual([opened, asked], [[], []]);
  await assert.rejects(admin.add("x", remote, { by: CLI_ACTOR }), /It was connected to/);
});

Deno.test("ServersAdmin asks the owner when a client adds a server on this machine", async () => {
  const { admin, asked, opened, wished } = adminOf(PROGRAM);
  const local = RemoteServer.parse({ type: "http", url: "http://localhost:4000/mcp" });
  await assert.rejects(admin.add("x", { ...local, trust: "untrusted" }, { by: BY_MODEL }), {
    code: "CONSENT_NEEDED",
  });
  assert.deepEqual([asked, opened, wished], [["add x mcp"], [], [local]]);
  const agreed = { ...BY_MODEL, hasAgreed: true };
  await assert.rejects(admin.add("x", local, { by: agreed }), /It was connected to/);
  assert.deepEqual([asked.length, opened], [1, ["x"]]);
});

Deno.test("ServersAdmin.restore() brings back what was decided before the server is started", async () => {
  const done: string[] = [];
  const note = (what: string) => (): Promise<string> =>
    Promise.resolve(what).finally(() => done.push(what));
  let [isFull, isTaken] = [true, true];
  const admin = new ServersAdmin({
    pool: { find: () => undefined, resolve: () => ({ status: {} }) },
    added: {
      find: () => Promise.resolve(undefined),
      save({ spec }: { spec: ServerSpec }, versionstamp: string | null) {
        if (isTaken) return Promise.reject(new GatewayError("CONFLICT"));
        return note(`${spec.disabled ? "off" : "on"} over ${versionstamp}`)();
      },
      delete: note("no entry"),
    },
    enabled: {
      set: () => isFull ? Promise.reject(new Error("The disk is full")) : Promise.resolve(),
    },
    canonical: { restore: note("tools") },
    review: { putBack: note("decisions"), take: note("no decisions") },
    sync: note("sync"),
  } as unknown as ServersAdminOptions);
  const removed = {
    entry: { name: "x", spec: PROGRAM, addedAt: 1 },
    enabled: [],
    tools: [],
    review: {},
  };
  await assert.rejects(admin.restore(removed, CLI_ACTOR), { code: "CONFLICT" });
  assert.deepEqual(done, [], "nothing of whoever has the name now is touched");
  isTaken = false;
  await assert.rejects(admin.restore(removed, CLI_ACTOR), /The disk is full/);
  assert.deepEqual(done.splice(0), ["off over null", "decisions", "no entry", "no decisions"]);
  isFull = false;
  await admin.restore(removed, CLI_ACTOR);
  const on = "on over off over null";
  assert.deepEqual(done, ["off over null", "decisions", "tools", on, "sync"]);
});

Deno.test("ServersAdmin.update() connects to nothing where only what was decided of a server changes", async () => {
  const { admin, opened } = adminOf(PROGRAM);
  const isStored = /It was stored/;
  await assert.rejects(admin.update("known", { ...PROGRAM, trust: "untrusted" }), isStored);
  await assert.rejects(admin.update("known", { ...PROGRAM, changes: "hold" }), isStored);
  await assert.rejects(admin.update("known", { ...PROGRAM, mode: "read-only" }), isStored);
  await assert.rejects(admin.update("known", { ...PROGRAM, disabled: true }), isStored);
  assert.deepEqual(opened, []);
});

Deno.test("ServersAdmin.update() has the owner asked about the program alone", async () => {
  const decided = { mode: "all", trust: "trusted", maxConcurrent: 5, disabled: true } as const;
  const { admin, wished } = adminOf({ ...PROGRAM, ...decided });
  await assert.rejects(admin.update("known", { ...PROGRAM, args: ["-c"] }), {
    code: "CONSENT_NEEDED",
  });
  assert.deepEqual(wished, [{ type: "stdio", command: "run", args: ["-c"], env: { A: "b" } }]);
  await assert.rejects(admin.add("x", { ...PROGRAM, ...decided }), { code: "CONSENT_NEEDED" });
  assert.deepEqual(wished[1], { ...PROGRAM, ...decided }, "of one to be added nothing is decided");
});

Deno.test("ServersAdmin.update() refuses a change made from an entry that is no longer the stored one", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const added = new ServersRepository(store);
  const stored = RemoteServer.parse({ type: "http", url: "https://a.example/mcp" });
  await added.save({ name: "a", spec: stored, addedAt: 1 }, null);
  const source = { kind: "store" };
  const admin = new ServersAdmin({
    pool: { resolve: () => ({ server: { spec: stored, source }, status: { name: "a", source } }) },
    added,
    sync: () => Promise.resolve(),
  } as unknown as ServersAdminOptions);

  const { spec, version } = await admin.read("a");
  assert.deepEqual(spec, stored);
  await admin.update("a", { ...spec, maxConcurrent: 2 }, { version });
  const changed = await admin.read("a");
  await assert.rejects(admin.update("a", { ...spec, mode: "read-only" }, { version }), {
    code: "CONFLICT",
    message: 'Cannot change server "a": someone changed its entry since you opened it',
  });
  assert.deepEqual(await admin.read("a"), changed);
  assert.deepEqual(changed.spec, { ...stored, maxConcurrent: 2 });

  await admin.update("a", { ...changed.spec, mode: "read-only" }, { version: changed.version });
  await admin.update("a", { ...spec, trust: "untrusted" });
  const kept = { maxConcurrent: 2, mode: "read-only", trust: "untrusted" };
  assert.deepEqual((await admin.read("a")).spec, { ...stored, ...kept });
});
