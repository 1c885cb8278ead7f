import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { GatewayError } from "../../core/errors.ts";
import { notificationText } from "../../core/rpc.ts";
import { TransportClosed } from "./transport.ts";
import { findMarked } from "../processes/process_group.ts";
import { fixtureCommand, TransportHarness, waitUntil } from "./testing/transport_harness.ts";

const DEAF = `trap "" TERM; while :; do sleep 1; done`;

/** What mentions this very Deno is talked to over streams, all else over Node's pipes. */
function overBothPipes(name: string, run: (env: Record<string, string>) => Promise<void>): void {
  Deno.test(name, () => run({}));
  Deno.test(`${name}, over streams`, () => run({ MENTIONED: Deno.execPath() }));
}

async function closedBy(promise: Promise<unknown>): Promise<TransportClosed> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TransportClosed) return error;
    throw error;
  }
  throw new Error("The transport did not close");
}

Deno.test("StdioTransport.request() gives each of 1,000 concurrent requests its own answer", async () => {
  await using harness = await TransportHarness.open();
  const numbers = Array.from({ length: 1_000 }, (_, index) => index);
  const answers = await Promise.all(numbers.map((n) => harness.call("echo", { n, text: "ä\n€" })));
  assert.deepEqual(answers, numbers.map((n) => ({ n, text: "ä\n€" })));
});

Deno.test("StdioTransport.request() gives the answer's text as it came", async () => {
  const answer = `{"result":{"big":12345678901234567890,"1":0,"0":1},"id":7,"jsonrpc":"2.0"}`;
  const script = `read -r line; printf '%s\\r\\n' '${answer}'; cat >&2`;
  await using harness = await TransportHarness.open({ command: "sh", args: ["-c", script] });
  assert.equal(await harness.transport.request(7, "{\n}"), answer);
});

Deno.test("StdioTransport.abandon() ends the wait for one answer, and the transport goes on", async () => {
  await using harness = await TransportHarness.open();
  const late = harness.call("later", { ms: 30 });
  const other = harness.call("echo", { n: 1 });
  harness.transport.abandon(harness.lastId - 1, new Error("enough"));
  await assert.rejects(late, /enough/);
  assert.deepEqual(await other, { n: 1 });
  await harness.call("later", { ms: 60 });
  assert.deepEqual(harness.warnings, []);
});

Deno.test("StdioTransport passes requests and notifications of the server's on, in order", async () => {
  await using harness = await TransportHarness.open();
  const asked = `{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage","params":{"x":1}}`;
  const told = notificationText("notifications/progress", `{"progress":1}`);
  await harness.call("print", { text: `${told}\n${asked}\n` });
  assert.deepEqual(harness.messages.map(({ text }) => text), [told, asked]);
  assert.deepEqual(harness.messages.map(({ message }) => message.kind), [
    "notification",
    "request",
  ]);
});

Deno.test("StdioTransport skips lines that are no message and warns of the first five", async () => {
  const harness = await TransportHarness.open();
  {
    await using _ = harness;
    const garbage = `Listening\n\n{"jsonrpc":"2.0"}\n[1]\n${"x".repeat(1_000)}\n`;
    await harness.call("print", { text: garbage, times: 100 });
    assert.deepEqual(await harness.call("echo", { n: 1 }), { n: 1 });
    assert.equal(harness.warnings.length, 5);
    assert.equal(harness.warnings[0], "Skipped a line that is not a JSON-RPC message: Listening");
    assert.ok(harness.warnings.every((line) => line.length < 300));
  }
  assert.equal(harness.warnings[5], "Skipped 395 more lines that are not JSON-RPC messages");
});

Deno.test("StdioTransport drops a line of 20 MiB and serves on", async () => {
  await using harness = await TransportHarness.open();
  const mib = 1024 * 1024;
  await harness.call("print", { text: "x", times: 20 * mib, end: "\n" });
  assert.deepEqual(harness.warnings, [
    `Skipped a message of ${20 * mib} bytes: the limit is ${16 * mib}`,
  ]);
  assert.equal(await harness.call("repeat", { text: "y", times: 15 * mib }), "y".repeat(15 * mib));
});

Deno.test("StdioTransport takes answers with the id as text, or in an array", async () => {
  await using harness = await TransportHarness.open();
  assert.equal(await harness.call("idAsText", {}), "text");
  assert.equal(await harness.call("inArray", {}), "array");
});

Deno.test("StdioTransport takes messages up to the limit that was set", async () => {
  await using harness = await TransportHarness.open({ maxMessage: 1024 * 1024 });
  const request = { text: "a", times: 2 * 1024 * 1024 };
  await assert.rejects(harness.call("repeat", request), /exceeds the limit of 1 MiB/);
});

Deno.test("StdioTransport says LIMIT_EXCEEDED to whoever waits for an answer that is too long", async () => {
  await using harness = await TransportHarness.open();
  const isTooLarge = (error: unknown) =>
    error instanceof GatewayError && error.code === "LIMIT_EXCEEDED";
  for (const method of ["repeat", "repeatIdLast", "repeatSpaced"]) {
    const params = { text: "y", times: 17 * 1024 * 1024 };
    await assert.rejects(harness.call(method, params), isTooLarge, method);
    assert.deepEqual(await harness.call("echo", { n: 1 }), { n: 1 });
  }
});

Deno.test("StdioTransport takes a line of 300 MB without growing by it", async () => {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-lock",
      "--no-check",
      "--allow-all",
      fromFileUrl(import.meta.resolve("./testing/long_line_probe.ts")),
    ],
    stdin: "null",
    stderr: "inherit",
  }).output();
  assert.ok(success);
  const { result, growth, warnings } = JSON.parse(new TextDecoder().decode(stdout));
  assert.equal(result, "still here");
  assert.ok(growth < 100e6, `grew by ${growth} bytes`);
  assert.deepEqual(warnings, ["Skipped a message of 300000000 bytes: the limit is 16777216"]);
});

Deno.test("StdioTransport reads stderr as fast as it is written, and cuts its lines", async () => {
  await using harness = await TransportHarness.open();
  await harness.call("complain", { text: "line\n", times: 100_000 });
  await harness.call("complain", { text: "y".repeat(10_000) + "\nend\n" });
  await waitUntil(() => harness.logs.at(-1)?.line === "end");
  assert.equal(harness.logs.length, 100_002);
  assert.ok(harness.logs.every(({ kind }) => kind === "stderr"));
  assert.equal(harness.logs.at(-2)?.line, `${"y".repeat(8 * 1024)} (cut, 10000 bytes)`);
});

overBothPipes(
  "StdioTransport fails all requests when the program crashes, with what it wrote",
  async (env) => {
    await using harness = await TransportHarness.open({ env });
    const calls = [harness.call("silence"), harness.call("crash", { last: "no database" })];
    for (const call of calls) {
      const { kind, message } = await closedBy(call);
      assert.equal(kind, "lost");
      assert.equal(
        message,
        'Server "fixture" exited with code 3 before completing the MCP handshake. Output: no database',
      );
    }
    assert.equal((await harness.closed).kind, "lost");
    assert.equal((await closedBy(harness.call("echo"))).kind, "lost");
    assert.equal((await closedBy(harness.transport.send("{}"))).kind, "lost");
  },
);

Deno.test("StdioTransport names the signal that ended the program", async () => {
  await using harness = await TransportHarness.open();
  const silent = harness.call("silence");
  const [leader] = await findMarked(harness.owner.marker);
  Deno.kill(leader ?? 0, "SIGKILL");
  const { message } = await closedBy(silent);
  assert.equal(
    message,
    'Server "fixture" exited with code 137 (SIGKILL) before completing the MCP handshake',
  );
});

overBothPipes(
  "StdioTransport delivers an answer that was written right before the end",
  async (env) => {
    await using harness = await TransportHarness.open({ env });
    assert.equal(await harness.call("answerAndDie"), "last");
    assert.match((await harness.closed).message, /exited with code 0/);
  },
);

overBothPipes("StdioTransport gives up on a program that closed its output", async (env) => {
  const args = ["-c", "exec 1>&-; exec sleep 60"];
  await using harness = await TransportHarness.open({ env, command: "sh", args });
  const { message } = await closedBy(harness.call("any"));
  assert.equal(message, 'Server "fixture" closed its standard output');
});

Deno.test("StdioTransport says what a line was that nobody could take, and ends", async () => {
  const fail = () => {
    throw new RangeError("too deep");
  };
  await using harness = await TransportHarness.open({}, { onMessage: fail });
  const lost = closedBy(harness.call("silence"));
  await closedBy(harness.call("print", { text: `${notificationText("notifications/x")}\n` }));
  assert.match(
    (await lost).message,
    /^Server "fixture" sent output the gateway cannot process \(too deep\)/,
  );
});

overBothPipes("StdioTransport gives up on a program that closed its input", async (env) => {
  const args = ["-c", "exec 0<&-; echo >&2; exec sleep 60"];
  await using harness = await TransportHarness.open({ env, command: "sh", args });
  await waitUntil(() => harness.logs.length > 0);
  assert.equal((await closedBy(harness.transport.send("{}"))).kind, "lost");
  assert.match((await harness.closed).message, /^Server "fixture" closed its standard input/);
});

overBothPipes(
  "StdioTransport does not wait for a stray process that holds its pipes",
  async (env) => {
    const args = ["-c", "setsid sleep 60 & exit 4"];
    const harness = await TransportHarness.open({ env, command: "sh", args });
    assert.match((await harness.closed).message, /exited with code 4/);
    await harness.owner[Symbol.asyncDispose]();
    await harness[Symbol.asyncDispose]();
  },
);

Deno.test("StdioTransport ends what a crashed program had started", async () => {
  await using harness = await TransportHarness.open();
  await harness.call("run", { script: "sleep 60" });
  await closedBy(harness.call("crash", { last: "oh" }));
  await harness.closed;
  assert.deepEqual(await findMarked(harness.owner.marker), []);
});

overBothPipes("StdioTransport makes writes wait while the program does not read", async (env) => {
  await using harness = await TransportHarness.open({ env });
  const asleep = harness.call("sleep", { ms: 3_000 });
  const text = notificationText("notifications/x", JSON.stringify({ x: "x".repeat(1024 * 1024) }));
  let isSent = false;
  const sent = harness.transport.send(text).then(() => isSent = true);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(!isSent);
  for (let index = 0; index < 30; index++) harness.transport.send(text);
  await assert.rejects(
    Promise.all([harness.transport.send(text), harness.transport.send(text)]),
    /Server "fixture" does not read its stdin: 32 MiB are waiting/,
  );
  assert.equal(await asleep, "awake");
  await sent;
  assert.deepEqual(await harness.call("echo", { n: 1 }), { n: 1 });
});

overBothPipes(
  "StdioTransport[Symbol.asyncDispose]() fails what waits and ends a willing program at once",
  async (env) => {
    const harness = await TransportHarness.open({ env });
    await harness.call("echo");
    const silent = closedBy(harness.call("silence"));
    await harness[Symbol.asyncDispose]();
    assert.equal((await silent).kind, "closed");
    assert.equal((await harness.closed).kind, "closed");
    assert.equal((await closedBy(harness.call("echo"))).kind, "closed");
  },
);

Deno.test("StdioTransport[Symbol.asyncDispose]() ends a stubborn program with its stubborn child", async () => {
  const harness = await TransportHarness.open(fixtureCommand("--stubborn"));
  await harness.call("run", { script: DEAF });
  await Promise.all([
    harness.transport[Symbol.asyncDispose](),
    harness.transport[Symbol.asyncDispose](),
  ]);
  await harness[Symbol.asyncDispose]();
});

overBothPipes(
  "StdioTransport[Symbol.asyncDispose]() does not wait for a program that does not read",
  async (env) => {
    const harness = await TransportHarness.open({ env, command: "sh", args: ["-c", DEAF] });
    const sent = closedBy(harness.transport.send("x".repeat(1024 * 1024)));
    await harness[Symbol.asyncDispose]();
    assert.equal((await sent).kind, "closed");
  },
);

Deno.test("ProcessOwner[Symbol.asyncDispose]() ends what left its group and outlived its transport", async () => {
  const harness = await TransportHarness.open();
  await harness.call("run", { script: "exec sleep 60", leaveGroup: true });
  await harness.transport[Symbol.asyncDispose]();
  assert.equal((await findMarked(harness.owner.marker)).length, 1);
  await harness.owner[Symbol.asyncDispose]();
  await harness[Symbol.asyncDispose]();
});

Deno.test("StdioTransport.open() gives the program its declared environment and little else", async () => {
  const { PATH = "", HOME = "" } = Deno.env.toObject();
  const leaseId = crypto.randomUUID();
  await using harness = await TransportHarness.open({
    env: { DECLARED: "yes", QUARTERMASTER_OWNER: "forged" },
    baseEnv: { PATH, HOME, LC_TIME: "C", CANARY: "secret", NODE_OPTIONS: "--x" },
  }, { leaseId });
  const expected = { PATH, HOME, LC_TIME: "C", DECLARED: "yes", QUARTERMASTER_OWNER: leaseId };
  assert.deepEqual(await harness.call("env"), expected);
});

Deno.test("StdioTransport.open() does not hand on the environment of its own process", async () => {
  Deno.env.set("QUARTERMASTER_TEST_CANARY", "secret");
  try {
    await using harness = await TransportHarness.open();
    const env = JSON.stringify(await harness.call("env"));
    assert.ok(env.includes("PATH"));
    assert.ok(!env.includes("CANARY"));
  } finally {
    Deno.env.delete("QUARTERMASTER_TEST_CANARY");
  }
});

Deno.test("StdioTransport.open() runs a program found from its folder or on its declared PATH", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const script = `#!/bin/sh\nread -r line; echo '{"jsonrpc":"2.0","id":1,"result":"ran"}'\n`;
    await Deno.writeTextFile(join(folder, "tool"), script, { mode: 0o755 });
    for (
      const program of [{ command: "./tool", cwd: folder }, {
        command: "tool",
        env: { PATH: folder },
      }]
    ) {
      await using harness = await TransportHarness.open({ args: [], ...program });
      assert.equal(await harness.call("any"), "ran");
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("StdioTransport.open() says why a program cannot be started", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const plain = join(folder, "plain.txt");
    const scripted = join(folder, "scripted");
    await Deno.writeTextFile(plain, "text");
    await Deno.writeTextFile(scripted, "#!/no/such/interpreter\n", { mode: 0o755 });
    const missing = join(folder, "missing");
    const cases: [{ command: string; cwd?: string }, string][] = [
      [{ command: "no-such-command" }, 'command "no-such-command" is not on PATH'],
      [{ command: missing }, `there is no file "${missing}"`],
      [{ command: "./missing", cwd: folder }, 'there is no file "./missing"'],
      [{ command: plain }, `"${plain}" is not executable`],
      [{ command: folder }, `"${folder}" is a directory, not a program`],
      [
        { command: scripted },
        `the interpreter that "${scripted}" names in its first line was not found`,
      ],
      [{ command: "sh", cwd: missing }, `its working directory "${missing}" does not exist`],
      [{ command: "sh", cwd: plain }, `its working directory "${plain}" is not a directory`],
    ];
    for (const [program, reason] of cases) {
      const { kind, message } = await closedBy(TransportHarness.open({ args: [], ...program }));
      assert.equal(kind, "lost");
      assert.equal(message, `Cannot start server "fixture": ${reason}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("StdioTransport.open() records the program before it runs and forgets it afterwards", async () => {
  const harness = await TransportHarness.open();
  const [record] = await harness.records.values();
  assert.equal(record?.marker, harness.owner.marker);
  await waitUntil(async () => (await harness.records.values())[0]?.startTime !== undefined);
  await harness[Symbol.asyncDispose]();
  assert.deepEqual(await harness.records.values(), []);
});
