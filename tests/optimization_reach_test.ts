import assert from "node:assert/strict";
import { connect, type EndpointClient, must } from "./combined_endpoints.ts";
import { GOOD, Lab, propose } from "./optimization.ts";

const NAMED = { server: "library", tool: "find_books" };
const ENDPOINT = "/servers/library/mcp?names=original";
/** It is meant to take half a second; a machine that is busy with other tests may take longer. */
const LIMIT_MS = 60_000;
const LOOK_MS = 5;

/** How long it takes until a client is told that tools changed. */
async function toldWithin(
  { told }: EndpointClient,
  change: () => Promise<unknown>,
): Promise<number> {
  told.tools.length = 0;
  const started = performance.now();
  await change();
  while (told.tools.length === 0 && performance.now() - started < LIMIT_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  assert.ok(told.tools.length > 0, `Nobody was told within ${LIMIT_MS} ms`);
  return Math.round(performance.now() - started);
}

async function descriptionFor({ client }: EndpointClient): Promise<string | undefined> {
  const { tools } = await client.listTools();
  return tools.find(({ name }) => name === NAMED.tool)?.description;
}

Deno.test("a promotion and its revert reach the clients of another gateway at once", async () => {
  await using lab = await Lab.open({});
  const { url } = lab.gateway;
  const other = await lab.start();
  await using manager = await connect(url, "/gateway/mcp");
  await using far = await connect(other.url, ENDPOINT);
  const own = await descriptionFor(far);
  const candidateId = await propose(manager, GOOD);
  const promoted = await toldWithin(far, async () => {
    const response = await fetch(`${url}/api/optimization/tools/library/find_books/promote`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url },
      body: JSON.stringify({ candidateId, reason: "To see how long it takes" }),
    });
    assert.ok(response.ok, await response.text());
  });
  assert.equal(await descriptionFor(far), GOOD);
  const reverted = await toldWithin(far, () => must(manager, "revert_optimization", NAMED));
  assert.equal(await descriptionFor(far), own);
  const words = `A promotion reached another gateway's client in ${promoted} ms, ` +
    `its revert in ${reverted} ms\n`;
  Deno.stderr.writeSync(new TextEncoder().encode(words));
});
