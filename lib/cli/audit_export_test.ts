import assert from "node:assert/strict";
import { readExport } from "./access_commands.ts";
import type { CommandInput } from "./command.ts";

Deno.test("audit export refuses --json beside another form of the same output", async () => {
  const flags = new Map<string, string | boolean>([["json", true], ["format", "csv"]]);
  const input = { positionals: [], flags } as unknown as CommandInput;
  await assert.rejects(readExport(input), {
    code: "CONFIG_INVALID",
    message: /Cannot combine --json and --format without --output/,
  });
});
