import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { startGateway } from "./gateway.ts";

const root = fromFileUrl(new URL("..", import.meta.url));

Deno.test("dev restarts on a change and disposes the gateway before it", async () => {
  const watched = await Deno.makeTempDir({ prefix: "quartermaster_" });
  await using gateway = await startGateway([], {
    command: ["run", "-q", "-P=build", `--watch=${watched}`, join(root, "dev.ts")],
    cwd: root,
    env: { QUARTERMASTER_DEV: "1" },
  });
  const first = await fetch(gateway.url);
  assert.equal(first.status, 200);
  assert.match(await first.text(), /weather/);
  try {
    await Deno.writeTextFile(join(watched, "change"), "x");
    const count = (pattern: RegExp) => gateway.log().match(pattern)?.length ?? 0;
    for (let tries = 0; tries < 1_200 && count(/"address":/g) < 2; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.equal(count(/"address":/g), 2, gateway.log());
    assert.equal(count(/"msg":"Stopped"/g), 1, gateway.log());
  } finally {
    assert.equal((await gateway.stop("SIGINT")).code, 0, gateway.log());
    await Deno.remove(watched, { recursive: true });
  }
});
