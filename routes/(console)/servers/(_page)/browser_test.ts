import assert from "node:assert/strict";
import { stubFetch } from "../../../../lib/console/testing/stub_fetch.ts";
import {
  fetchLogLines,
  fetchRecognized,
  hasWritten,
  matchingTools,
  requestImport,
  retryText,
  tokensOf,
} from "./browser.ts";

const { signal } = new AbortController();

Deno.test("requestImport() gives what came of it, also where it was refused or is no answer", async () => {
  {
    using _fetch = stubFetch({ server: { state: "ready", toolCount: 3, reason: "" } });
    assert.deepEqual(await requestImport("{}", "git"), { ok: true, text: "Added, 3 tools" });
  }
  {
    const error = { message: "Too much", errorType: "LIMIT_EXCEEDED", recoverySteps: ["Less"] };
    using _fetch = stubFetch({ error }, 413);
    assert.deepEqual(await requestImport("{}", "git"), {
      ok: false,
      error: { message: "Too much", code: "LIMIT_EXCEEDED", steps: ["Less"] },
    });
  }
  using _fetch = stubFetch({ server: "maybe" });
  const odd = await requestImport("{}", "git");
  assert.ok(!odd.ok);
  assert.match(odd.error.message, /unexpected response/);
});

Deno.test("fetchRecognized() takes what a text has, and nothing else", async () => {
  const server = { name: "git", line: "npx git", notes: [], isChosen: true };
  {
    using _fetch = stubFetch({ kind: "command", servers: [server] });
    const found = await fetchRecognized("npx git", signal);
    assert.ok("servers" in found);
    assert.equal(found.servers[0]?.name, "git");
  }
  using _fetch = stubFetch({ servers: "many" });
  await assert.rejects(fetchRecognized("npx git", signal));
});

Deno.test("fetchLogLines() takes a server's lines, and nothing else", async () => {
  const { signal } = new AbortController();
  {
    using _fetch = stubFetch({ lines: [{ time: 1, line: "started" }] });
    assert.deepEqual(await fetchLogLines("git", signal), [{ time: 1, line: "started" }]);
  }
  using _fetch = stubFetch({ lines: ["started"] });
  await assert.rejects(fetchLogLines("git", signal));
});

Deno.test("hasWritten() tells the server from others", () => {
  assert.ok(hasWritten("git", { server: "git" }));
  for (const other of [{ server: "files" }, {}, null]) assert.ok(!hasWritten("git", other));
});

Deno.test("retryWords() counts down to the try, and says less where no clock runs", () => {
  assert.equal(retryText(undefined), "retrying soon");
  assert.equal(retryText(4_200), "trying again in 5 s");
  assert.equal(retryText(60_000), "trying again in 1 min");
  assert.equal(retryText(1), "trying again in 1 s");
  for (const late of [0, -3_000]) assert.equal(retryText(late), "trying again");
});

const tools = [
  { name: "get_forecast", summary: "Weather to come", isOn: true, tokens: 40 },
  { name: "get_radar", summary: "Images", isOn: false, tokens: 2 },
];

Deno.test("matchingTools() finds every word in name or summary", () => {
  assert.deepEqual(matchingTools(tools, " GET weather ").map(({ name }) => name), ["get_forecast"]);
  assert.equal(matchingTools(tools, " ").length, 2);
  assert.equal(matchingTools(tools, "none").length, 0);
});

Deno.test("tokensOf() adds what is chosen, once all of it is counted", () => {
  assert.equal(tokensOf(tools, new Set(["get_forecast", "get_radar"])), 42);
  assert.equal(
    tokensOf([...tools, { name: "x", summary: "", isOn: true }], new Set(["x"])),
    undefined,
  );
  assert.equal(tokensOf(tools, new Set()), 0);
});
