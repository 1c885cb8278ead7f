import assert from "node:assert/strict";
import { helpText, optionsTable } from "./help.ts";
import { optionRows } from "./option_table.ts";

Deno.test("helpText() names every option with its meaning and default", () => {
  const text = helpText({
    commands: [{ usage: "restore FILE", meaning: "Restore a backup" }],
    commandFlags: [{ flag: "json", meaning: "Print JSON" }],
  });
  for (const row of optionRows()) {
    const line = text.split("\n").find((line) => line.trim().startsWith(`--${row.flag} `));
    assert.ok(line?.includes(row.meaning), row.flag);
    assert.ok(line?.includes(`(default: ${row.fallbackText})`), row.flag);
  }
  for (const part of ["--help", "--version", "restore FILE", "--json", "Exit codes"]) {
    assert.ok(text.includes(part), part);
  }
});

Deno.test("optionsTable() is what docs/configuration.md shows", async () => {
  // The formatter lines up the columns of the page.
  const loose = (text: string) => text.replace(/ +/g, " ").replace(/-{3,}/g, "---");
  const page = await Deno.readTextFile(new URL("../../docs/configuration.md", import.meta.url));
  assert.ok(
    loose(page).includes(loose(optionsTable())),
    `docs/configuration.md must hold this table:\n${optionsTable()}`,
  );
});
