import assert from "node:assert/strict";
import { delimiter, join } from "node:path";
import { findProgram } from "./claude_environment.ts";

Deno.test("findProgram() gives the first that can be started, as a whole path", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    const [first, second] = [join(folder, "first"), join(folder, "second")];
    for (const place of [first, second]) await Deno.mkdir(place);
    await Deno.writeTextFile(join(first, "claude"), "", { mode: 0o644 });
    await Deno.writeTextFile(join(second, "claude"), "", { mode: 0o755 });
    const env = { PATH: ["", first, second].join(delimiter) };
    assert.equal(await findProgram("claude", env), join(second, "claude"));
    assert.equal(await findProgram(join(second, "claude"), {}), join(second, "claude"));
    assert.equal(await findProgram("other", env), undefined);
    assert.equal(await findProgram(join(folder, "none"), env), undefined);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
