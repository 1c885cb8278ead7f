import assert from "node:assert/strict";
import { explanationText } from "./ranking.ts";
import { SearchIndex, type SearchRequest } from "./search_index.ts";
import { aDocument, someDocuments } from "./testing/documents.ts";

function anIndex(synonyms?: Record<string, string[]>): SearchIndex {
  const index = new SearchIndex(synonyms ? { synonyms } : {});
  index.update({ added: someDocuments() });
  return index;
}

const keysFor = (index: SearchIndex, request: SearchRequest) =>
  index.search(request).map(({ key }) => key);
const first = (index: SearchIndex, query: string) => index.search({ query })[0]?.key;

Deno.test("SearchIndex.search() finds a tool however its name is written", () => {
  const index = anIndex();
  for (const query of ["createIssue", "create issue", "CREATE-ISSUE", "creating issues"]) {
    const found = keysFor(index, { query }).slice(0, 2).sort();
    assert.deepEqual(found, ["github.create_issue", "jira.createIssue"], query);
  }
  assert.equal(first(index, "github.create_issue"), "github.create_issue");
  assert.equal(first(index, "github create issue"), "github.create_issue");
});

Deno.test("SearchIndex.search() knows synonyms, short commands and those that were added", () => {
  assert.equal(first(anIndex(), "rm"), "files.delete_file");
  assert.equal(first(anIndex(), "ls"), "files.list_directory");
  assert.equal(first(anIndex(), "rainfall"), undefined);
  assert.equal(first(anIndex({ rainfall: ["weather"] }), "rainfall"), "weather.get_forecast");
});

Deno.test("SearchIndex.search() forgives typos in words that no tool has", () => {
  assert.equal(first(anIndex(), "wether forcast"), "weather.get_forecast");
  assert.equal(first(anIndex(), "serach flihgts"), "travel.search_flights");
});

Deno.test("SearchIndex.search() finds by parameters and by what is said of the server", () => {
  assert.equal(first(anIndex(), "attachments"), "mail.send_email");
  assert.equal(first(anIndex(), "latitude"), "weather.get_forecast");
});

Deno.test("SearchIndex.search() finds each wish of a longer task", () => {
  const found = keysFor(anIndex(), {
    query: "Find flights from Oslo to Rome, then send an email to Anna and delete /tmp/draft.txt",
    limit: 4,
  });
  for (const key of ["travel.search_flights", "mail.send_email", "files.delete_file"]) {
    assert.ok(found.includes(key), `${key} is not in ${found.join(", ")}`);
  }
});

Deno.test("SearchIndex.search() lets the context change the ranking, not the answer", () => {
  const index = anIndex();
  const query = "create an issue ticket repository";
  const plain = keysFor(index, { query });
  const jira = keysFor(index, { query: "issue", context: "our Jira project" });
  const github = keysFor(index, { query: "issue", context: "a GitHub repository" });
  assert.equal(jira[0], "jira.createIssue");
  assert.equal(github[0], "github.create_issue");
  assert.deepEqual(keysFor(index, { query, context: "hotels" }).sort(), plain.sort());
});

Deno.test("SearchIndex.search() keeps to rights and limit", () => {
  const index = anIndex();
  assert.deepEqual(
    keysFor(index, { query: "issue", admits: (key) => key.startsWith("jira.") }),
    ["jira.createIssue"],
  );
  assert.equal(keysFor(index, { query: "file", limit: 1 }).length, 1);
  assert.deepEqual(keysFor(index, { query: "file", limit: 0 }), []);
});

Deno.test("SearchIndex.search() is not crowded by tools the caller may not see", () => {
  const index = new SearchIndex();
  index.update({
    added: Array.from({ length: 400 }, (_, n) => aDocument("other", `alpha_${n}`, "alpha")),
  });
  index.update({ added: [aDocument("mine", "beta", "one among others: alpha and much besides")] });
  assert.deepEqual(
    keysFor(index, { query: "alpha", admits: (key) => key.startsWith("mine.") }),
    ["mine.beta"],
  );
});

Deno.test("SearchIndex.update() follows single changes", () => {
  const index = anIndex();
  const changed = aDocument("weather", "get_forecast", "Lottery numbers of next week");
  index.update({ added: [changed], removed: ["travel.search_hotels", "no.such"] });
  assert.equal(first(index, "lottery numbers"), "weather.get_forecast");
  assert.equal(first(index, "coming days"), undefined);
  assert.ok(!keysFor(index, { query: "search hotels" }).includes("travel.search_hotels"));
  assert.equal(index.size, someDocuments().length - 1);
  assert.equal(index.fingerprintOf("weather.get_forecast"), changed.fingerprint);
});

Deno.test("SearchIndex ranks the same after many changes as when built anew", () => {
  const index = anIndex();
  for (const document of someDocuments()) {
    index.update({ added: [{ ...document, description: "changed", fingerprint: "other" }] });
    index.update({ removed: [document.key] });
    index.update({ added: [document] });
  }
  for (const query of ["create issue", "find hotels", "read file contents"]) {
    assert.deepEqual(index.search({ query }), anIndex().search({ query }));
  }
});

Deno.test("SearchIndex.search() says why a tool has its rank", () => {
  const [hit] = anIndex().search({ query: "serach flights rm", explain: true });
  const { explanation } = hit!;
  assert.equal(hit!.key, "travel.search_flights");
  assert.ok(explanation!.fields.name! > explanation!.fields.description!);
  assert.ok(explanation!.words.some(({ found }) => found === "search"));
  assert.ok(explanation!.words.every(({ fields, score }) => fields.length > 0 && score > 0));
  assert.equal(explanation!.clause, 0);
  const query = "find flights to Oslo. Then send an email to Anna.";
  assert.ok(anIndex().search({ query, explain: true })[0]!.explanation!.clause > 0);
  assert.equal(anIndex().search({ query: "flights" })[0]!.explanation, undefined);
});

Deno.test("SearchIndex.search() gives relevance that means something by itself", () => {
  const index = anIndex();
  assert.equal(index.search({ query: "send_email" })[0]!.relevance, 1);
  const weak = index.search({ query: "the complete zebra of quantum opera coming to town" });
  assert.ok(weak.length > 0);
  for (const { relevance } of weak) assert.ok(relevance < 0.3, String(relevance));
  for (const query of ["issue", "find hotels in a city", "file"]) {
    const found = index.search({ query }).map(({ relevance }) => relevance);
    assert.deepEqual(found, found.toSorted((one, other) => other - one), query);
    assert.ok(found.every((relevance) => relevance >= 0 && relevance <= 1));
  }
});

Deno.test("SearchIndex.search() answers whatever it is asked", () => {
  const index = anIndex();
  const queries = [
    "",
    " ",
    "\0\0\0",
    "🙂🚀",
    "מה מזג האוויר מחר",
    "the of and to",
    "'; DROP TABLE tools; --",
    "(.*)+[a-z]{1,1000}\\",
    "constructor __proto__ toString hasOwnProperty",
    "a".repeat(100_000),
    "file ".repeat(20_000),
    Array.from({ length: 20_000 }, (_, n) => `word${n}`).join(" "),
    "/".repeat(100_000),
    "a.".repeat(50_000),
    "\ud800 lone",
  ];
  for (const query of queries) {
    assert.ok(Array.isArray(index.search({ query, context: query, explain: true })));
  }
  assert.equal(keysFor(index, { query: "file ".repeat(20_000) }).length > 0, true);
  assert.deepEqual(new SearchIndex().search({ query: "file" }), []);
});

/** Tools whose names share a word with queries that mean something else. */
function aWorkplace(): SearchIndex {
  const index = new SearchIndex();
  index.update({
    added: [
      aDocument("playwright", "playwright_close", "Close the browser and release all resources"),
      aDocument("github", "update_pull_request", "Change the state or title of a pull request"),
      aDocument("github", "create_pull_request", "Create a new pull request"),
      aDocument("github", "create_branch", "Create a new branch in a repository"),
      aDocument("github", "delete_branch", "Delete a branch of a repository"),
      aDocument("todoist", "todoist_create_task", "Add a task to Todoist"),
      aDocument("files", "search_files", "Search for files by name"),
      aDocument("files", "edit_file", "Edit a text file"),
      aDocument("k8s", "pods_list", "List the pods of a Kubernetes cluster"),
      aDocument("db", "run_query", "Run a query against the database"),
    ],
  });
  return index;
}

Deno.test("SearchIndex.search() wants verb and object to agree", () => {
  const index = aWorkplace();
  assert.equal(first(index, "close the pr"), "github.update_pull_request");
  assert.equal(first(index, "delete branch"), "github.delete_branch");
  assert.equal(first(index, "make a branch"), "github.create_branch");
  const [best, other] = index.search({ query: "remove the branch" });
  assert.equal(best!.key, "github.delete_branch");
  assert.ok(best!.relevance > other!.relevance);
});

Deno.test("SearchIndex.search() reads short forms, parts of compounds and swapped letters", () => {
  const index = aWorkplace();
  assert.equal(first(index, "open a pr"), "github.create_pull_request");
  assert.equal(first(index, "k8s pods"), "k8s.pods_list");
  assert.equal(first(index, "query the db"), "db.run_query");
  assert.equal(first(index, "make a todo"), "todoist.todoist_create_task");
  assert.equal(first(index, "serach flies"), "files.search_files");
  assert.equal(first(index, "searchfiles please"), "files.search_files");
});

Deno.test("SearchIndex.search() finds nothing for a query in another language that shares no word", () => {
  const index = aWorkplace();
  for (
    const query of ["今日の天気を教えて", "удали ветку", "lösche bitte den Zweig", "חפש קבצים"]
  ) {
    assert.deepEqual(keysFor(index, { query }), [], query);
  }
  assert.equal(first(index, "Kubernetes の Pods を表示して"), "k8s.pods_list");
  assert.equal(first(index, "liste les pods du cluster"), "k8s.pods_list");
});

Deno.test("SearchIndex.search() matches scripts without spaces by neighboring signs", () => {
  const index = new SearchIndex();
  index.update({
    added: [
      aDocument("tianqi", "forecast", "查询城市的天气预报"),
      aDocument("maps", "route", "规划驾车路线"),
    ],
  });
  assert.equal(first(index, "明天的天气"), "tianqi.forecast");
});

Deno.test("SearchIndex.search() ranks a deprecated tool below its replacement", () => {
  const index = new SearchIndex();
  index.update({
    added: [
      aDocument("mail", "send_mail", "Send an email", { isDeprecated: true }),
      aDocument("mail", "send_email_v2", "Send an email to somebody"),
    ],
  });
  assert.equal(first(index, "send an email"), "mail.send_email_v2");
});

Deno.test("SearchIndex.search() gives equals an equal relevance", () => {
  const index = new SearchIndex();
  index.update({
    added: [
      aDocument("playwright", "playwright_screenshot", "Take a screenshot of the page"),
      aDocument("puppeteer", "puppeteer_screenshot", "Take a screenshot of the page"),
      aDocument("files", "read_file", "Read a file"),
    ],
  });
  const [one, other] = index.search({ query: "take a screenshot of the page" });
  assert.ok(one!.relevance - other!.relevance < 0.1, `${one!.relevance} ${other!.relevance}`);
});

Deno.test("SearchIndex.search() keeps to servers and a category if asked", () => {
  assert.deepEqual(keysFor(anIndex(), { query: "issue", servers: ["jira"] }), ["jira.createIssue"]);
  assert.deepEqual(keysFor(anIndex(), { query: "issue", servers: [] }), []);
  const index = new SearchIndex();
  index.update({
    added: [
      ...Array.from(
        { length: 400 },
        (_, number) =>
          aDocument("many", `issue_${number}`, "Issue issue issue", { categories: ["other"] }),
      ),
      aDocument("jira", "log", "Adds a note to an issue", { categories: ["tasks", "notes"] }),
    ],
  });
  // Far behind the first candidates: it is found because Orama filters, not because of its rank.
  let asked = 0;
  const admits = () => ++asked > 0;
  const request = { query: "issue", category: "notes", admits };
  assert.deepEqual(keysFor(index, request), ["jira.log"]);
  assert.equal(asked, 1);
  assert.deepEqual(keysFor(index, { query: "issue", category: "notes", servers: ["many"] }), []);
});

Deno.test("SearchIndex.search() puts a deprecated tool behind the one its notice names", () => {
  const index = new SearchIndex();
  const replacements = ["files.Use", "files.read_text_file", "files.instead"];
  index.update({
    added: [
      aDocument("files", "read_file", "Read the complete contents of a file as text", {
        title: "Read File (Deprecated)",
        isDeprecated: true,
        replacements,
      }),
      aDocument("files", "read_text_file", "Handles various encodings with head and tail"),
      aDocument("files", "write_file", "Write a file"),
      aDocument("other", "search_files", "Search for files"),
    ],
  });
  for (const query of ["read file", "read_file", "files.read_file", "read complete contents"]) {
    const [first, second] = index.search({ query, explain: true });
    assert.equal(first!.key, "files.read_text_file", query);
    assert.equal(second!.key, "files.read_file", query);
    assert.ok(first!.relevance >= second!.relevance, query);
  }
  const admits = (key: string) => key !== "files.read_text_file";
  assert.equal(keysFor(index, { query: "read_file", admits })[0], "files.read_file");
});

Deno.test("SearchIndex.search() lifts what the caller called after a similar search", () => {
  const index = new SearchIndex();
  index.update({
    added: [
      aDocument("github", "create_issue", "Create an issue"),
      aDocument("linear", "create_issue", "Create an issue"),
      aDocument("mail", "send_email", "Send an email"),
      aDocument("notes", "jot", "Keeps a thought"),
    ],
  });
  const picks = [{ query: "create new issues", key: "linear.create_issue", times: 1 }];
  const find = (query: string, more = picks) => index.search({ query, picks: more, explain: true });
  assert.equal(find("make an issue", []).at(0)!.key, "github.create_issue");
  const [first] = find("create an issue");
  assert.equal(first!.key, "linear.create_issue");
  assert.match(explanationText(first!.explanation!, "q"), /called after a similar search/);
  // Another search, and a tool that fits far better, are not affected.
  assert.equal(find("send an email")[0]!.key, "mail.send_email");
  const odd = [{ query: "send an email", key: "notes.jot", times: 50 }];
  const keys = find("send an email", odd).map(({ key }) => key);
  assert.deepEqual(keys.slice(0, 2), ["mail.send_email", "notes.jot"]);
  // What is gone, or not for the caller, does not come back.
  const gone = [{ query: "send an email", key: "mail.gone", times: 1 }];
  assert.ok(!find("send an email", gone).some(({ key }) => key === "mail.gone"));
  const hidden = { query: "send an email", picks: odd, admits: (key: string) => key[0] === "m" };
  assert.deepEqual(keysFor(index, hidden), ["mail.send_email"]);
});
