import assert from "node:assert/strict";
import { stubFetch } from "../../../../../lib/console/testing/stub_fetch.ts";
import { requestCall } from "./try_result.tsx";

const CALL = { server: "git", tool: "log", arguments: {}, confirmed: false };
const { signal } = new AbortController();

Deno.test("requestCall() gives what came of the call, or why it was not made", async () => {
  const outcome = {
    isError: false,
    ms: 3,
    bytes: 20,
    parts: [{ kind: "text", text: "done" }, { kind: "other", type: "audio", text: "{}" }],
    more: 0,
    request: { text: "{}" },
    response: { text: "{}", cutFrom: 100 },
    messages: [],
  };
  {
    using _fetch = stubFetch({ outcome });
    assert.deepEqual(await requestCall(CALL, signal), { outcome });
  }
  {
    using _fetch = stubFetch({ error: { message: "It is off", errorType: "TOOL_DISABLED" } }, 409);
    const { error } = await requestCall(CALL, signal);
    assert.deepEqual(error, { message: "It is off", code: "TOOL_DISABLED", steps: [] });
  }
  using _fetch = stubFetch({ outcome: { ...outcome, parts: "none" } });
  assert.match(
    (await requestCall(CALL, signal)).error?.message ?? "",
    /unexpected response/,
  );
});
