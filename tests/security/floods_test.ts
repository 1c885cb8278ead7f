import assert from "node:assert/strict";
import { chaos, errorType, FaultyGateway } from "../faults.ts";
import { fixtureCommand, startHttpFixture } from "../fixtures/start_fixture.ts";

/** Kinds of floods, and how a call ends that causes one. */
const FLOODS = {
  stdio: { progress: "LIMIT_EXCEEDED", garbage: "LIMIT_EXCEEDED", slow: "TIMEOUT" },
  http: {
    comments: "LIMIT_EXCEEDED",
    interim: "LIMIT_EXCEEDED",
    progress: "LIMIT_EXCEEDED",
    logs: "LIMIT_EXCEEDED",
    slow: "TIMEOUT",
  },
  sse: { comments: "LIMIT_EXCEEDED", logs: "LIMIT_EXCEEDED", slow: "TIMEOUT" },
};

Deno.test("floods on every transport end with a clear error, while other calls are answered", async () => {
  await using web = await startHttpFixture("flooding_server");
  const reach = {
    stdio: fixtureCommand("flooding_server"),
    http: { type: "http", url: `${web.url}/mcp` },
    sse: { type: "sse", url: `${web.url}/sse` },
  };
  const cells = Object.entries(FLOODS).flatMap(([transport, kinds]) =>
    Object.entries(kinds).map(([kind, outcome]) => ({ transport, kind, outcome }))
  );
  const entries = cells.map(({ transport, kind }) => {
    const timeoutMs = kind === "slow" ? 2_000 : 120_000;
    return [`${transport}_${kind}`, { ...reach[transport as keyof typeof reach], timeoutMs }];
  });
  await using faulty = await FaultyGateway.start({
    ...Object.fromEntries(entries),
    own: reach.http,
    steady: chaos(),
  });
  for (const { transport, kind } of cells) await faulty.reaches(`${transport}_${kind}`, "ready");
  const [steady, own] = [await faulty.open("steady"), await faulty.open("own")];
  let isOver = false;
  let answered = 0;
  const others = (async () => {
    for (; !isOver; answered++) {
      assert.equal(await steady.must("echo", { answered }), `{"answered":${answered}}`);
    }
  })();

  // On the stream on which a server speaks by itself; its calls go on meanwhile.
  await own.call("flood", { kind: "own" });
  const flooded = Promise.all(cells.map(async ({ transport, kind, outcome }) => {
    const client = await faulty.open(`${transport}_${kind}`);
    const answer = await client.call("flood", { kind }, { _meta: { progressToken: 1 } });
    assert.equal(errorType(answer), outcome, `${kind} over ${transport}`);
    const text = answer.result?.content?.[0]?.text ?? "";
    if (outcome === "LIMIT_EXCEEDED") assert.match(text, /sent endless .*closed the stream/);
  }));
  await Promise.race([flooded, others]);
  assert.equal(await own.must("echo"), "echo");
  isOver = true;
  await others;
  assert.ok(answered > 0);
});
