import assert from "node:assert/strict";
import { Access } from "../auth/access.ts";
import { forEachOption, OPTION_GROUPS, OPTIONS } from "../config/option_table.ts";
import { AccessScope, type AccessToken, type AuditedChange } from "../core/access.ts";
import { verifyBackup } from "../storage/backup.ts";
import { Store } from "../storage/store.ts";
import { fileResponse } from "./http.ts";
import { runOperation } from "./operation.ts";
import { SETTINGS_OPERATIONS } from "./settings.ts";
import { callBy, servicesOf } from "./testing/services.ts";

const access = new Access({ isRequired: true });
access.load(["read,call,manage", "optimize", "manage,optimize"].map(tokenWith), []);

function tokenWith(rights: string): AccessToken {
  const scope = AccessScope.parse({ rights: rights.split(",") });
  return { id: rights, name: rights, hash: rights, scope, createdAt: 0 };
}

Deno.test("evaluator.test spends model time only for those who may manage and optimize", async () => {
  const ran: unknown[] = [];
  const services = servicesOf({
    access,
    evaluator: () =>
      Promise.resolve({
        check: { run: () => ran.push("check") },
        trial: {
          run: (signal: AbortSignal) => {
            ran.push(signal);
            return { outcome: "right", words: "It called the tool", model: "m", durationMs: 1 };
          },
        },
      }),
  });
  for (const rights of ["read,call,manage", "optimize"]) {
    const test = runOperation(
      SETTINGS_OPERATIONS.testEvaluator,
      services as never,
      {},
      callBy(`token:${rights}`),
    );
    await assert.rejects(test, { code: "ACCESS_DENIED" });
  }
  assert.deepEqual(ran, []);
  const call = callBy("token:manage,optimize");
  await runOperation(SETTINGS_OPERATIONS.testEvaluator, services as never, {}, call);
  assert.deepEqual(ran, [call.signal, "check"]);
  await runOperation(
    SETTINGS_OPERATIONS.checkEvaluator,
    services as never,
    {},
    callBy("token:read,call,manage"),
  );
  assert.deepEqual(ran.slice(2), ["check"]);
});

function backup(store: Store, { canWrite = true, isLocal = true } = {}) {
  const audited: unknown[] = [];
  const settings = {
    store,
    platform: { canWrite },
    onAudit: ({ action }: { action: string }) => audited.push(action),
  };
  const services = servicesOf({ settings });
  const call = callBy("a", { isLocal });
  return runOperation(SETTINGS_OPERATIONS.backup, services as never, {}, call)
    .then((file) => ({ file, audited }));
}

Deno.test("data.backup gives a whole backup to keep, on this machine only", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await store.commit({ sets: [{ key: ["settings", "x"], value: true }], announce: false });
  const { file, audited } = await backup(store);
  assert.deepEqual(audited, ["data.backup"]);
  const response = fileResponse(file);
  assert.match(
    response.headers.get("content-disposition") ?? "",
    /filename="quartermaster-\d{4}-\d\d-\d\d\.backup"/,
  );
  const saved = await Deno.makeTempFile({ prefix: "quartermaster_" });
  try {
    await Deno.writeFile(saved, new Uint8Array(await response.arrayBuffer()));
    assert.ok((await verifyBackup(saved)).entries >= 1);
  } finally {
    await Deno.remove(saved);
  }
  await assert.rejects(backup(store, { isLocal: false }), { code: "ACCESS_DENIED" });
  await assert.rejects(backup(store, { canWrite: false }), /this platform has no disk/);
});

Deno.test("settings.set changes what is read at each use, and refuses everything else", async () => {
  const audited: unknown[] = [];
  let told = 0;
  const options = Object.fromEntries(
    Object.entries(OPTIONS).map(([name, { fallback }]) => [name, fallback]),
  );
  const settings = {
    options,
    origins: forEachOption(() => "default"),
    startup: {},
    logs: { level: "info", module: () => ({ info() {} }) },
    onAudit: ({ subject, before, after }: AuditedChange) => audited.push([subject, before, after]),
    onChanged: () => told++,
  };
  const set = (option: string, value: string) =>
    runOperation(
      SETTINGS_OPERATIONS.set,
      servicesOf({ settings }) as never,
      { option, value },
      callBy("everyone"),
    );
  await set("activityRetention", "7");
  const { option } = await set("activityRetention", "8");
  assert.equal(options.activityRetention, 8);
  assert.deepEqual([option.value, option.origin, option.startup], ["8", "console", "30"]);
  await runOperation(
    SETTINGS_OPERATIONS.setLogLevel,
    servicesOf({ settings }) as never,
    { level: "debug" },
    callBy("a"),
  );
  assert.deepEqual([settings.logs.level, options.logLevel], ["debug", "debug"]);
  assert.equal(told, 3, "open pages are updated");
  assert.deepEqual(audited, [
    ["activity-retention", "30", "7"],
    ["activity-retention", "7", "8"],
    ["log-level", "info", "debug"],
  ]);
  for (const [name, value] of [["activityRetention", "0"], ["logLevel", "loud"], ["port", "1"]]) {
    await assert.rejects(set(name!, value!), { code: "INVALID_ARGUMENTS" }, name);
  }
});

Deno.test("every option is in one group", () => {
  assert.deepEqual(Object.values(OPTION_GROUPS).flat().sort(), Object.keys(OPTIONS).sort());
});
