import assert from "node:assert/strict";
import { ActivityRepository } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { ActivityLog } from "../telemetry/activity_log.ts";
import { CallEvents, type HeardCalls } from "./call_events.ts";
import { EventHub } from "./event_hub.ts";

const CALL = { door: "mcp?default", session: "s", principal: "everyone", server: "git", ms: 3 };

Deno.test("CallEvents tells calls some at a time, and counts those beyond", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using log = new ActivityLog({
    repository: new ActivityRepository(store),
    processId: "a",
    onWarning: assert.fail,
  });
  const hub = new EventHub();
  using _events = new CallEvents(hub, log);
  log.record({ ...CALL, tool: "unheard", ok: true });
  const open = new AbortController();
  const heard = hub.stream(null, open.signal, () => []);
  for (let call = 0; call < 203; call++) log.record({ ...CALL, tool: `t${call}`, ok: true });
  let text = "";
  for await (const chunk of heard.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("event: activity")) break;
  }
  open.abort();
  const data: HeardCalls = JSON.parse(/data: (.*)/.exec(text)![1]!);
  assert.deepEqual([data.calls.length, data.skipped], [200, 3]);
  assert.equal(data.calls[0]!.tool, "t0");
  assert.ok(!text.includes("id:"), "a client that comes back is not told them again");
});
