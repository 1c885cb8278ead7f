import assert from "node:assert/strict";
import fc from "fast-check";
import { SUMMARY_CHARS, summaryOf } from "./tool_summary.ts";

Deno.test("summaryOf() takes the first sentence, without preamble and markup", () => {
  const examples: [string, string][] = [
    ["Show the working tree status. Use it often.", "Show the working tree status"],
    ["This tool allows you to create an issue in a repository.", "Create an issue in a repository"],
    ["Use this tool to read a file, e.g. a log. Then stop.", "Read a file, e.g. a log"],
    ["## Search\n\nFind `code` in **all** repositories", "Find code in all repositories"],
    ["A tool for [weather](https://x.example) data!", "Weather data!"],
    ["Supports v1.2 of the format. More.", "Supports v1.2 of the format"],
    ["", "Create pull request"],
  ];
  for (const [description, summary] of examples) {
    assert.equal(summaryOf({ name: "createPullRequest", description }), summary);
  }
});

Deno.test("summaryOf() ends long sentences at a clause or a word", () => {
  const clause = summaryOf({
    name: "x",
    description:
      "List all of the pull requests of a repository, newest first, with their authors, labels and reviews",
  });
  assert.equal(
    clause,
    "List all of the pull requests of a repository, newest first, with their authors",
  );
  const cut = summaryOf({ name: "x", description: "word ".repeat(40) });
  assert.match(cut, /word…$/);
});

Deno.test("summaryOf() is one line of at most 80 characters, whatever comes", () => {
  fc.assert(fc.property(fc.string(), fc.string({ maxLength: 400 }), (name, description) => {
    const summary = summaryOf({ name: name || "x", description });
    assert.ok(summary.length <= SUMMARY_CHARS, summary);
    assert.doesNotMatch(summary, /\n/);
  }));
});
