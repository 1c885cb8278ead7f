import assert from "node:assert/strict";
import { stubFetch } from "../testing/stub_fetch.ts";
import { askRecognized, askToAdd } from "./found_servers.ts";

const { signal } = new AbortController();

Deno.test("askToAdd() gives what came of it, also where it was refused or is no answer", async () => {
  {
    using _fetch = stubFetch({ outcome: { ok: true, text: "Added, 3 tools" } });
    assert.deepEqual(await askToAdd("{}", "git"), { ok: true, text: "Added, 3 tools" });
  }
  {
    const error = { message: "Too much", errorType: "LIMIT_EXCEEDED", recoverySteps: ["Less"] };
    using _fetch = stubFetch({ error }, 413);
    assert.deepEqual(await askToAdd("{}", "git"), {
      ok: false,
      error: { message: "Too much", code: "LIMIT_EXCEEDED", steps: ["Less"] },
    });
  }
  using _fetch = stubFetch({ outcome: { ok: "maybe" } });
  const odd = await askToAdd("{}", "git");
  assert.ok(!odd.ok);
  assert.match(odd.error.message, /not what this page expects/);
});

Deno.test("askRecognized() takes what a text has, and nothing else", async () => {
  const server = { name: "git", line: "npx git", notes: [], isChosen: true };
  {
    using _fetch = stubFetch({ kind: "command", servers: [server] });
    const found = await askRecognized("npx git", signal);
    assert.ok("servers" in found);
    assert.equal(found.servers[0]?.name, "git");
  }
  using _fetch = stubFetch({ servers: "many" });
  await assert.rejects(askRecognized("npx git", signal));
});
