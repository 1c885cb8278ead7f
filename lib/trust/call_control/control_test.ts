import assert from "node:assert/strict";
import type { CallLimit } from "../../core/access.ts";
import { GatewayError } from "../../core/errors.ts";
import type { CallMode, ServerSpec } from "../../core/server.ts";
import { CallControl, type CallControlOptions } from "./control.ts";
import { type CallWishes, pendingCall, testClient } from "./testing/pending_call.ts";

interface Setting {
  spec?: Partial<ServerSpec>;
  limit?: CallLimit;
  toolset?: CallMode;
}

function control(setting: Setting, more: Partial<CallControlOptions> = {}): CallControl {
  const spec: ServerSpec = { type: "demo", ...setting.spec } as ServerSpec;
  return new CallControl({
    findServer: (name) => name === "git" ? { server: { spec } } : undefined,
    limitOf: () => setting.limit,
    toolsetMode: () => setting.toolset,
    askFirst: () => Promise.reject(new Error("asked")),
    shorten: (_call, _answer, most) => Promise.resolve(`cut to ${most}`),
    readPage: () => Promise.resolve("page"),
    ...more,
  });
}

/** What becomes of a call: "passes", "asks", or the code of the refusal. */
async function outcome(setting: Setting, wishes: CallWishes = {}): Promise<string> {
  try {
    await control(setting).enter(pendingCall(wishes));
    return "passes";
  } catch (error) {
    assert.ok(error instanceof Error);
    return "code" in error
      ? String(error.code)
      : error.message === "asked"
      ? "asks"
      : error.message;
  }
}

const reads = { name: "status", annotations: { readOnlyHint: true } };
const adds = { name: "add", annotations: { destructiveHint: false } };
const destroys = { name: "commit" };

Deno.test("CallControl.enter() lets a call through at once where nothing is set", () => {
  assert.equal(control({}).enter(pendingCall()), undefined);
  const limits = { begin: () => assert.fail("nothing had to be counted") };
  const gate = control({}, { limits: limits as never });
  assert.equal(gate.enter(pendingCall()), undefined);
});

Deno.test("CallControl.enter() goes by each mode and what a tool does", async () => {
  const rows = await Promise.all((["all", "confirm", "read-only"] as const).map(async (mode) => [
    mode,
    ...await Promise.all([reads, adds, destroys].map((tool) => outcome({ toolset: mode }, tool))),
  ]));
  assert.deepEqual(rows, [
    ["all", "passes", "passes", "passes"],
    ["confirm", "passes", "passes", "asks"],
    ["read-only", "passes", "ACCESS_DENIED", "ACCESS_DENIED"],
  ]);
});

Deno.test("CallControl.enter() takes the strictest of server, toolset and token, wherever it is", async () => {
  const modes: CallMode[] = ["all", "confirm", "read-only"];
  for (const server of modes) {
    for (const toolset of modes) {
      for (const token of modes) {
        const strictest = [server, toolset, token].includes("read-only")
          ? "ACCESS_DENIED"
          : [server, toolset, token].includes("confirm")
          ? "asks"
          : "passes";
        const setting = { spec: { mode: server }, toolset, limit: { mode: token } };
        assert.equal(await outcome(setting, destroys), strictest, JSON.stringify(setting));
      }
    }
  }
});

Deno.test("CallControl.enter() takes the owner's word for what a tool does, for a token's mode too", async () => {
  const spec = { readOnlyTools: ["commit"], writingTools: ["status"] };
  const limit: CallLimit = { mode: "read-only" };
  assert.equal(await outcome({ spec, limit }, destroys), "passes");
  assert.equal(await outcome({ spec, limit }, reads), "ACCESS_DENIED");
});

Deno.test("CallControl.enter() refuses in words that say who allows what", () => {
  assert.throws(() => control({ spec: { mode: "read-only" } }).enter(pendingCall()), {
    message: 'Not called: git.commit may change data, and the entry of server "git" ' +
      "allows only read-only tools",
  });
});

Deno.test("CallControl.enter() looks again at what is set once somebody has agreed", async () => {
  const setting: Setting = { toolset: "confirm" };
  const gate = control(setting, {
    toolsetMode: () => setting.toolset,
    askFirst() {
      setting.toolset = "read-only";
      return Promise.resolve();
    },
  });
  await assert.rejects(async () => await gate.enter(pendingCall()), { code: "ACCESS_DENIED" });
});

Deno.test("CallControl.enter() limits a server for all, and a token for itself, until a call ends", () => {
  const gate = control({ spec: { maxConcurrent: 2 }, limit: { concurrent: 1 } });
  const enter = (principal: string) => {
    const call = pendingCall({ client: testClient({ principal }) });
    gate.enter(call);
    return call;
  };
  const refused = (principal: string, message: RegExp) =>
    assert.throws(() => enter(principal), { code: "LIMIT_EXCEEDED", message });
  const first = enter("token:a");
  refused("token:a@project", /^This token/);
  enter("token:b");
  refused("token:c", /^Server "git"/);
  gate.ended(first.request);
  enter("token:a@project");
});

Deno.test("CallControl.enter() counts no call that its mode refuses", () => {
  const gate = control({ spec: { mode: "read-only", callsPerMinute: 1 } });
  for (let nth = 0; nth < 3; nth++) {
    assert.throws(() => gate.enter(pendingCall()), { code: "ACCESS_DENIED" });
  }
  assert.equal(gate.enter(pendingCall(reads)), undefined);
  assert.throws(() => gate.enter(pendingCall(reads)), { code: "LIMIT_EXCEEDED" });
});

Deno.test("CallControl.leave() has long answers shortened, where a server's entry wants that", async () => {
  const answer = "x".repeat(500);
  assert.equal(control({}).leave(pendingCall(), answer), answer);
  assert.equal(control({ spec: { maxResultTokens: 500 } }).leave(pendingCall(), answer), answer);
  assert.equal(
    await control({ spec: { maxResultTokens: 499 } }).leave(pendingCall(), answer),
    "cut to 499",
  );
});

Deno.test("CallControl.read() answers for pages of results, and for nothing else", async () => {
  const { request, client } = pendingCall();
  const read = (method: string, uri: unknown) =>
    control({}).read({ ...request, method, params: { uri } }, client);
  assert.equal(await read("resources/read", "quartermaster://results/x?page=2"), "page");
  assert.equal(read("resources/read", "file:///etc/passwd"), undefined);
  assert.equal(read("resources/read", 5), undefined);
  assert.equal(read("resources/subscribe", "quartermaster://results/x?page=2"), undefined);
});

Deno.test("CallControl.countRequest() bounds what one caller opens, not what others do", () => {
  const gate = control({});
  for (let nth = 0; nth < 3_000; nth++) gate.countRequest("token:a", "initialize");
  assert.throws(() => gate.countRequest("token:a@project", "initialize"), {
    code: "LIMIT_EXCEEDED",
    message: /^Opening sessions is limited to 3000 per minute/,
  });
  gate.countRequest("token:a", "tools/list");
  gate.countRequest("token:b", "initialize");
});

Deno.test("CallControl.enterBuiltin() counts the gateway's own tools with the token's calls", () => {
  const gate = control({ limit: { perMinute: 3 } });
  gate.enterBuiltin("token:a");
  gate.enter(pendingCall({ client: testClient({ principal: "token:a" }) }));
  gate.enterBuiltin("token:a");
  assert.throws(() => gate.enterBuiltin("token:a"), { code: "LIMIT_EXCEEDED" });
  gate.enterBuiltin("token:b");
  for (let nth = 0; nth < 100; nth++) control({}).enterBuiltin("token:a");
});

Deno.test("CallControl has it noted that a call was not let through, and why", async () => {
  const noted: string[] = [];
  const onRefused: CallControlOptions["onRefused"] = ({ subject }, { message }) =>
    void noted.push(`${subject}: ${message}`);
  const readOnly = control({ spec: { mode: "read-only" } }, { onRefused });
  readOnly.enter(pendingCall(reads));
  assert.throws(() => readOnly.enter(pendingCall(destroys)));
  assert.match(noted.join(), /^git\.commit: Not called: git\.commit may change data/);
  noted.length = 0;
  const ways: [Error, string[]][] = [
    [new GatewayError("ACCESS_DENIED", { message: "said no" }), ["git.commit: said no"]],
    [new GatewayError("TIMEOUT", { message: "too late" }), ["git.commit: too late"]],
    // Its client has cancelled it: nobody was refused anything.
    [new DOMException("The client disconnected", "AbortError"), []],
  ];
  for (const [error, expected] of ways) {
    const askFirst = () => Promise.reject(error);
    const asks = control({ toolset: "confirm" }, { onRefused, askFirst });
    await assert.rejects(Promise.resolve(asks.enter(pendingCall(destroys))));
    assert.deepEqual(noted.splice(0), expected);
  }
});

Deno.test("CallControl does not have it noted that a call was one too many", () => {
  const onRefused = () => assert.fail("a limit is no decision about the call");
  const gate = control({ limit: { perMinute: 1 } }, { onRefused });
  gate.enter(pendingCall());
  assert.throws(() => gate.enter(pendingCall()), /LIMIT_EXCEEDED|per minute/);
});

Deno.test("CallControl.enterTrial() holds a person to the modes of server and token, and to the token's limits", async () => {
  const tried = (setting: Setting, wishes: CallWishes = {}) => {
    return control(setting).enterTrial(pendingCall(wishes));
  };
  const denied = (by: string) => ({
    code: "ACCESS_DENIED",
    message: `Not called: git.commit may change data, and ${by} allows only read-only tools`,
  });
  assert.equal(await tried({ spec: { callsPerMinute: 1 }, toolset: "read-only" }), false);
  await assert.rejects(tried({ limit: { mode: "read-only" } }), denied("this token"));
  const spec = { mode: "read-only" as const };
  await assert.rejects(tried({ spec }), denied('the entry of server "git"'));
  await assert.rejects(
    tried({ spec, limit: { mode: "confirm" } }),
    denied('the entry of server "git"'),
  );
  assert.equal(await tried({ spec }, reads), false);
  const said = { spec: { readOnlyTools: ["*"] }, limit: { mode: "read-only" as const } };
  assert.equal(await tried(said), false, "the owner's word of a tool");
  assert.equal(await tried({ limit: { mode: "confirm" } }), true);
  assert.equal(await tried({ spec: { mode: "confirm" } }), true);
  assert.equal(await tried({ spec: { mode: "confirm" } }, adds), false);
  const gate = control({ limit: { perMinute: 1 } });
  assert.equal(await gate.enterTrial(pendingCall()), false);
  assert.throws(() => gate.enter(pendingCall()), { code: "LIMIT_EXCEEDED" }, "one count for all");
});

Deno.test("CallControl.enterTrial() has it noted that a person was not let through", async () => {
  const noted: string[] = [];
  const gate = control({ spec: { mode: "read-only" } }, {
    onRefused: ({ subject, principal, client }) =>
      void noted.push(`${subject} ${principal} ${client}`),
  });
  const client = testClient({ principal: "token:a" });
  await assert.rejects(gate.enterTrial(pendingCall({ client })));
  assert.deepEqual(noted, ["git.commit token:a undefined"]);
});

Deno.test("CallControl.mustConfirm() tells what will have to be agreed to, and counts nothing", () => {
  const must = (setting: Setting, wishes: CallWishes = {}) => {
    const gate = control(setting, { onRefused: () => assert.fail("nothing was tried") });
    return gate.mustConfirm({ tool: pendingCall(wishes).tool, principal: "token:a" });
  };
  assert.equal(must({}), false);
  assert.equal(must({ spec: { mode: "confirm" } }), true);
  assert.equal(must({ spec: { mode: "confirm" } }, reads), false);
  assert.equal(must({ spec: { mode: "confirm", writingTools: ["status"] } }, reads), true);
  assert.equal(must({ spec: { mode: "read-only" } }), false, "there is nothing to agree to");
});

Deno.test("CallControl.enterBuiltin() counts with the calls of a token that has both limits", () => {
  const gate = control({ limit: { perMinute: 3, concurrent: 1 } });
  gate.enterBuiltin("token:a");
  gate.enter(pendingCall({ client: testClient({ principal: "token:a" }) }));
  // Nor does it have to wait for a call that is under way.
  gate.enterBuiltin("token:a");
  assert.throws(() => gate.enterBuiltin("token:a"), { code: "LIMIT_EXCEEDED" });
});

Deno.test("CallControl.enterUse() counts with the calls of the token and of the server", () => {
  const use = (gate: CallControl, principal = "token:a", method = "resources/read") => {
    const request = {};
    gate.enterUse({ server: "git", method, principal, request });
    return request;
  };
  const ofToken = control({ limit: { perMinute: 2 } });
  use(ofToken);
  ofToken.enter(pendingCall({ client: testClient({ principal: "token:a" }) }));
  assert.throws(() => use(ofToken, "token:a@web"), { code: "LIMIT_EXCEEDED", message: /^This/ });
  const ofServer = control({ spec: { maxConcurrent: 1 } });
  const first = use(ofServer);
  assert.throws(() => use(ofServer, "token:b"), {
    code: "LIMIT_EXCEEDED",
    message: /^Server "git"/,
  });
  assert.throws(() => ofServer.enter(pendingCall()), { code: "LIMIT_EXCEEDED" });
  // What ends something is never held back.
  for (let times = 0; times < 3; times++) use(ofToken, "token:a", "resources/unsubscribe");
  use(ofServer, "token:a", "tasks/cancel");
  ofServer.ended(first);
  use(ofServer, "token:b");
  const free = control({}, {
    limits: { begin: () => assert.fail("nothing had to be counted") } as never,
  });
  use(free);
  const moded = control({ spec: { mode: "read-only" }, limit: { mode: "read-only" } });
  use(moded);
});
