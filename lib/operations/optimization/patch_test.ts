import assert from "node:assert/strict";
import { join } from "@std/path";
import {
  confirmCandidate,
  draft,
  GOOD,
  openOptimization,
} from "../../mcp/testing/open_optimization.ts";
import { failure } from "../../storage/testing/failures.ts";
import { descriptionDiff } from "./patch.ts";

const FORECAST = { server: "weather", tool: "forecast" };

Deno.test("a patch for the author states the evidence: interval, prompts and model", async () => {
  await using opened = await openOptimization();
  const { candidateId } = await draft(opened);
  await failure(opened.admin.patch(FORECAST), "NOT_FOUND");
  const bare = await opened.admin.patch({ ...FORECAST, candidateId });
  assert.match(bare.text, /None: the description has not been evaluated yet/);
  assert.match(bare.text, /The description below may help them choose\./);
  await confirmCandidate(opened, candidateId);
  await opened.admin.promote({ ...FORECAST, candidateId }, "caller");
  const { format, text } = await opened.admin.patch(FORECAST);
  assert.equal(format, "issue");
  assert.match(text, /^# Improve the description of `forecast`\n/);
  assert.match(text, /a model chose rightly about `forecast` more often/);
  assert.ok(text.includes("```text\nDoes forecast\n```") && text.includes(GOOD));
  assert.match(text, /by stand-in with \d+ prompts \(\d+ direct, \d+ indirect, \d+ negative\)/);
  assert.match(text, /Gain: \+.* points \(95 % interval/);
  assert.match(text, /Confirmed on prompts that neither/);
});

const SOURCES: [name: string, before: string, canonical: string, after: string][] = [
  [
    "double quotes",
    'server.tool("forecast",\n  "Say \\"when\\"",\n  run);\n',
    'Say "when"',
    'server.tool("forecast",\n  "It\'s `new` and \\"better\\"",\n  run);\n',
  ],
  [
    "single quotes",
    "tool('forecast', 'Does forecast')",
    "Does forecast",
    "tool('forecast', 'It\\'s `new` and \"better\"')",
  ],
  [
    "template",
    "const other = `Does forecast`;\nforecast = `Does forecast`;\n",
    "Does forecast",
    'const other = `Does forecast`;\nforecast = `It\'s \\`new\\` and "better"`;\n',
  ],
  [
    "bare",
    "tools:\n  - name: forecast\n    description: Does forecast\n",
    "Does forecast",
    'tools:\n  - name: forecast\n    description: It\'s `new` and "better"\n',
  ],
];

Deno.test("a diff of the source is one that git applies, in every kind of quotes", async () => {
  const description = 'It\'s `new` and "better"';
  for (const [name, source, canonical, after] of SOURCES) {
    const folder = await Deno.makeTempDir();
    try {
      const path = "server.txt";
      await Deno.writeTextFile(join(folder, path), source);
      const tool = name === "template" ? "forecast = " : "forecast";
      const diff = descriptionDiff({ tool, canonical, parameters: {}, text: { description } }, {
        path,
        source,
      });
      await Deno.writeTextFile(join(folder, "patch"), diff);
      const { success, stderr } = await new Deno.Command("git", {
        args: ["apply", "patch"],
        cwd: folder,
      }).output();
      assert.ok(success, `${name}: ${new TextDecoder().decode(stderr)}\n${diff}`);
      assert.equal(await Deno.readTextFile(join(folder, path)), after, name);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
  const none = () =>
    descriptionDiff({ tool: "x", canonical: "Other", parameters: {}, text: { description } }, {
      path: "a.ts",
      source: "nothing",
    });
  assert.throws(none, /does not contain the description/);
});
