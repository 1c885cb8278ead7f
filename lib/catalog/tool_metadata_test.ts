import assert from "node:assert/strict";
import { Catalog } from "./catalog.ts";
import { categoryOf, summarizeTool, SUMMARY_CHARS, ToolMetadataBook } from "./tool_metadata.ts";
import fc from "../../tests/fast_check.ts";

function toolOf(description: string, extra: Record<string, unknown> = {}) {
  const catalog = new Catalog();
  const definition = { name: "go", description, inputSchema: { type: "object", ...extra } };
  catalog.setListed("srv", [JSON.stringify(definition)]);
  return catalog.of("srv").tools[0]!;
}

Deno.test("ToolMetadataBook.of() takes what people said before what is inferred", () => {
  const tool = toolOf("Search the web. And more.");
  const inferred = new ToolMetadataBook();
  assert.deepEqual(inferred.of(tool), { summary: "Search the web", category: "search" });
  const configured = new ToolMetadataBook({ "srv.*": "web", "other.go": "x" });
  assert.equal(configured.of(tool).category, "web");
  configured.setOverrides([{ server: "srv", tool: "go", summary: "Google it", category: "mine" }]);
  assert.deepEqual(configured.of(tool), { summary: "Google it", category: "mine" });
  configured.setOverrides([]);
  assert.equal(configured.of(tool).summary, "Search the web");
});

Deno.test("ToolMetadataBook.of() sees what a server calls deprecated", () => {
  const book = new ToolMetadataBook();
  assert.equal(
    book.of(toolOf("[DEPRECATED] Use stop instead.\nOld.")).deprecated,
    "Use stop instead.",
  );
  assert.match(book.of(toolOf("Runs.", { deprecated: true })).deprecated!, /deprecated/);
  assert.equal(book.of(toolOf("Lists deprecated packages")).deprecated, undefined);
});

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
    assert.equal(summarizeTool({ name: "createPullRequest", description }), summary);
  }
});

Deno.test("summaryOf() ends long sentences at a clause or a word", () => {
  const clause = summarizeTool({
    name: "x",
    description:
      "List all of the pull requests of a repository, newest first, with their authors, labels and reviews",
  });
  assert.equal(
    clause,
    "List all of the pull requests of a repository, newest first, with their authors",
  );
  const cut = summarizeTool({ name: "x", description: "word ".repeat(40) });
  assert.match(cut, /word…$/);
});

Deno.test("summaryOf() is one line of at most 80 characters, whatever comes", () => {
  fc.assert(fc.property(fc.string(), fc.string({ maxLength: 400 }), (name, description) => {
    const summary = summarizeTool({ name: name || "x", description });
    assert.ok(summary.length <= SUMMARY_CHARS, summary);
    assert.doesNotMatch(summary, /\n/);
  }));
});

Deno.test("categoryOf() goes by whole words, the telling ones", () => {
  const examples: [string, string, string, string][] = [
    ["x", "create_issue", "Create an issue in GitHub", "github"],
    ["github", "list_pull_requests", "List the pull requests of a repository", "github"],
    ["git_hub", "create_issue", "Create an issue in GitHub", "github"],
    ["git", "status", "Show the working tree status", "git"],
    ["fs", "read_text", "Read a text file", "file_operations"],
    ["wiki", "read_page", "Read a page", "other"],
    ["office", "print_label", "Print a label", "other"],
    ["users", "create_admin_user", "Create a user with admin rights", "other"],
    ["slack", "post", "Post to a channel", "messaging"],
    ["cal", "list_events", "List the events of a calendar", "calendar"],
    ["pg", "query", "Run an SQL query against a table", "database"],
    ["web", "search", "Search the web", "search"],
    ["constructor", "toString", "__proto__", "other"],
  ];
  for (const [server, name, description, category] of examples) {
    assert.equal(categoryOf({ server, name, description }), category, `${server}.${name}`);
  }
});
