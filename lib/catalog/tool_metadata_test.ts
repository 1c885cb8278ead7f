import assert from "node:assert/strict";
import { Catalog } from "./catalog.ts";
import { TableEmbedder } from "./search/embedding/table_embedder.ts";
import { summarizeTool, SUMMARY_CHARS, ToolMetadataBook } from "./tool_metadata.ts";
import fc from "../../tests/fast_check.ts";

const OBJECT = { type: "object" };

function toolOf(description: string, extra: Record<string, unknown> = {}) {
  const catalog = new Catalog();
  const definition = { name: "go", description, inputSchema: { type: "object", ...extra } };
  catalog.setListed("srv", [JSON.stringify(definition)]);
  return catalog.of("srv").tools[0]!;
}

Deno.test("ToolMetadataBook.of() takes what people said before what is inferred", () => {
  const tool = toolOf("Search the web. And more.");
  const inferred = new ToolMetadataBook();
  assert.deepEqual(inferred.of(tool), {
    summary: "Search the web",
    category: "other",
    categories: ["other"],
  });
  const configured = new ToolMetadataBook({ "srv.*": "web", "other.go": "x" });
  assert.equal(configured.of(tool).category, "web");
  configured.setOverrides([{ server: "srv", tool: "go", summary: "Google it", category: "mine" }]);
  const mine = { summary: "Google it", category: "mine", categories: ["mine"] };
  assert.deepEqual(configured.of(tool), mine);
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
  assert.equal(
    book.of(toolOf("Old way. This tool is deprecated: use stop.")).deprecated,
    "use stop.",
  );
  assert.equal(book.of(toolOf("Runs (deprecated, use go2)")).deprecated, "use go2");
  // As the filesystem server has it; its title has only a mark.
  const inTheMiddle = "Read a file as text. DEPRECATED: Use read_text_file instead.";
  assert.equal(book.of(toolOf(inTheMiddle)).deprecated, "Use read_text_file instead.");
  const catalog = new Catalog();
  const annotated = { name: "go", annotations: { deprecated: "Use go2" }, inputSchema: OBJECT };
  catalog.setListed("srv", [JSON.stringify(annotated)]);
  assert.equal(book.of(catalog.of("srv").tools[0]!).deprecated, "Use go2");
  for (
    const text of [
      "Lists deprecated packages",
      "Find code that uses deprecated calls",
      "Lists. Deprecated ones too",
    ]
  ) {
    assert.equal(book.of(toolOf(text)).deprecated, undefined, text);
  }
});

Deno.test("summaryOf() takes the first sentence, without preamble and markup", () => {
  const examples: [string, string][] = [
    ["Show the working tree status. Use it often.", "Show the working tree status"],
    ["This tool allows you to create an issue in a repository.", "Create an issue in a repository"],
    ["Use this tool to read a file, e.g. a log. Then stop.", "Read a file, e.g. a log"],
    ["## Search\n\nFind `code` in **all** repositories", "Find code in all repositories"],
    ["A tool for [weather](https://x.example) data!", "Weather data!"],
    ["Supports v1.2 of the format. More.", "Supports v1.2 of the format"],
    ["This is a powerful tool that converts PDFs.", "Converts PDFs"],
    ["Use this tool when you need to list open tabs.", "List open tabs"],
    ["DEPRECATED: Read a file. Use read_text_file.", "Read a file"],
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

function categoriesOf(tools: [server: string, name: string, description: string][]) {
  const catalog = new Catalog();
  for (const [server, own] of Map.groupBy(tools, ([server]) => server)) {
    const texts = own.map(([, name, description]) =>
      JSON.stringify({ name, description, inputSchema: { type: "object" } })
    );
    catalog.setListed(server, texts);
  }
  const book = new ToolMetadataBook({}, {
    servers: () => Array.from(catalog.snapshot.servers.values(), ({ tools }) => tools),
    openVectors: () => TableEmbedder.open(),
    onChange: () => {},
  });
  const find = (server: string, name: string) =>
    catalog.of(server).tools.find((tool) => tool.name === name)!;
  return { book, find, of: (server: string, name: string) => book.of(find(server, name)) };
}

Deno.test("ToolMetadataBook.prepare() infers categories from what tools are for", async () => {
  const { book, of } = categoriesOf(TOOLS.map(([, ...tool]) => tool));
  const [, ...first] = TOOLS[0]!;
  assert.equal(of(first[0], first[1]).category, "other", "there is none before");
  const before = book.edition;
  await book.prepare();
  assert.notEqual(book.edition, before);
  for (const [category, server, name] of TOOLS) {
    assert.ok(of(server, name).categories.includes(category), `${server}.${name} ${category}`);
  }
});

Deno.test("ToolMetadataBook.prepare() gives no category where none is close", async () => {
  const tools: [string, string, string][] = [
    ["constructor", "toString", "__proto__"],
    ["acme", "frobnicate", "Frobnicates the gizmo"],
    ["x", "zzz", ""],
  ];
  const { book, of } = categoriesOf(tools);
  await book.prepare();
  for (const [server, name] of tools) assert.equal(of(server, name).category, "other", name);
});

Deno.test("ToolMetadataBook finds near categories and similar tools", async () => {
  const { book, find } = categoriesOf(BELIEFS);
  await book.prepare();
  assert.deepEqual(book.nearestCategories("beliefs", ["github", "memory", "payments"], 1), [
    "memory",
  ]);
  const [adjust, ...others] = BELIEFS.map(([server, name]) => find(server, name));
  assert.equal(book.similar(adjust!, others)[0]?.name, "query_beliefs");
});

const BELIEFS: [server: string, name: string, description: string][] = [
  ["forge", "adjust_belief", "Reinforce, weaken, modify, or delete a belief"],
  ["forge", "query_beliefs", "Query stored beliefs by content or category"],
  ["forge", "report_outcome", "Report feedback on context helpfulness"],
  ["forge", "get_principles", "Get the guiding principles of this workspace"],
];

/** Tools as their servers describe them, with a category that a person would look for them in. */
const TOOLS: [category: string, server: string, name: string, description: string][] = [
  ["tasks", "linear", "create_issue", "Create a new issue in a Linear team"],
  ["browser", "playwright", "browser_console_messages", "Returns all console messages"],
  ["browser", "playwright", "browser_click", "Perform click on a web page"],
  ["docs", "context7", "query-docs", "Retrieves up-to-date documentation for any library"],
  ["memory", "forge", "query_beliefs", "Query stored beliefs by content or category"],
  ["memory", "memory", "create_entities", "Create new entities in the knowledge graph"],
  ["containers", "docker", "ps", "List containers"],
  ["github", "github", "create_issue", "Create a new issue in a GitHub repository"],
  ["git", "git", "git_status", "Shows the working tree status"],
  ["file_operations", "filesystem", "read_text_file", "Read a file from the file system as text"],
  ["payments", "stripe", "create_refund", "Refund a payment intent"],
  ["messaging", "slack", "post_message", "Post a message to a channel"],
  ["tasks", "todoist", "add-tasks", "Add tasks to a project"],
  ["database", "postgres", "query", "Run a read-only SQL query"],
  ["weather", "weather", "get_alerts", "Get weather alerts for a state"],
  ["search", "brave-search", "brave_web_search", "Performs a web search with Brave Search"],
  ["cloud", "aws", "s3_list_buckets", "List S3 buckets"],
  ["monitoring", "grafana", "query_prometheus", "Query Prometheus with a PromQL expression"],
  ["email", "gmail", "send_email", "Sends an email"],
  ["calendar", "google-calendar", "create-event", "Create a calendar event"],
  ["shell", "desktop-commander", "start_process", "Start a terminal process"],
  ["maps", "google-maps", "maps_geocode", "Convert an address into coordinates"],
  ["math", "time", "get_current_time", "Get current time in a specific timezone"],
];
