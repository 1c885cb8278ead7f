import assert from "node:assert/strict";
import { categoryOf } from "./tool_category.ts";

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
