import assert from "node:assert/strict";
import { dirname, fromFileUrl, join, normalize } from "@std/path";
import { COMMANDS } from "../lib/cli/quartermaster.ts";
import { METRICS } from "../lib/telemetry/metrics.ts";
import { parseCommandLine } from "../lib/config/command_line.ts";

const ROOT = fromFileUrl(new URL("..", import.meta.url));

/** The pages that people read; decisions and the changelog speak of their own time. */
function pages(): string[] {
  const below = (folder: string) =>
    [...Deno.readDirSync(join(ROOT, folder))]
      .filter(({ name }) => name.endsWith(".md")).map(({ name }) => join(folder, name));
  return [
    "README.md",
    "CONTRIBUTING.md",
    ...["docs", "docs/clients", "docs/reference"].flatMap(below),
  ];
}

function read(page: string): string {
  return Deno.readTextFileSync(join(ROOT, page));
}

/** The anchor that a heading gets: lower case, spaces as dashes, without other marks. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replace(/^```[^]*?^```/gm, "").matchAll(/^#+ (.+)$/gm);
  return new Set(Array.from(
    headings,
    ([, heading = ""]) =>
      heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").trim().replaceAll(" ", "-"),
  ));
}

Deno.test("every link in the docs leads to a page and a heading that exist", () => {
  const broken: string[] = [];
  for (const page of pages()) {
    for (const [, target = ""] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?|mailto):/.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : normalize(join(dirname(page), path));
      const isThere = exists(file);
      if (!isThere) broken.push(`${page}: ${target}`);
      else if (anchor !== undefined && !anchorsOf(read(file)).has(anchor)) {
        broken.push(`${page}: ${target}: no such heading`);
      }
    }
  }
  assert.deepEqual(broken, []);
});

Deno.test("docs/README.md lists every page of the docs", () => {
  const index = read("docs/README.md") + read("docs/clients.md");
  const missing = pages().filter((page) => page.startsWith("docs/") && page !== "docs/README.md")
    .filter((page) => !index.includes(`](${page.slice("docs/".length)})`));
  assert.deepEqual(missing, []);
});

Deno.test("every command in the docs exists and takes the flags shown", () => {
  const flags = Object.values(COMMANDS).flatMap((command) => command.flags ?? []);
  const wrong: string[] = [];
  let found = 0;
  for (const page of pages()) {
    for (const line of commandsIn(read(page))) {
      found++;
      const words = line.split(/\s+/).map((word) => word.replaceAll(/^['"]|['"]$/g, ""));
      // Options of `start` come without a command.
      if (words.length === 0 || words[0]!.startsWith("-") || words[0] === "start") continue;
      try {
        const { command = "", positionals, given } = parseCommandLine(words, flags);
        const [next, last] = positionals;
        const name = [`${command} ${next} ${last}`, `${command} ${next}`, command]
          .find((name) => name in COMMANDS);
        const isFamily = Object.keys(COMMANDS).some((known) => known.startsWith(`${command} `));
        if (name === undefined && !(isFamily && /^(\.|COMMAND|$)/.test(positionals[0] ?? ""))) {
          wrong.push(`${page}: ${line}: no such command`);
        }
        const own = new Set((COMMANDS[name ?? ""]?.flags ?? []).map(({ flag }) => flag));
        const known = new Set(flags.map(({ flag }) => flag));
        for (const flag of given.keys()) {
          if (known.has(flag) && !own.has(flag)) wrong.push(`${page}: ${line}: --${flag}`);
        }
      } catch (error) {
        wrong.push(`${page}: ${line}: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
  assert.ok(found > 100, `only ${found} commands were found`);
  assert.deepEqual(wrong, []);
});

/** What follows `quartermaster` in shell blocks and inline code. */
function commandsIn(text: string): string[] {
  const blocks = Array.from(text.matchAll(/^ *```sh\n([^]*?)^ *```/gm), ([, block = ""]) => block)
    .flatMap((block) => block.split("\n").map((line) => line.replace(/\s+#.*$/, "")))
    .flatMap((line) => line.match(/(?:^|\| )\s*quartermaster (.+)$/)?.[1] ?? []);
  const inline = Array.from(text.matchAll(/`quartermaster ([^`]+)`/g), ([, line = ""]) => line);
  return [...blocks, ...inline].map((line) =>
    line.replace(/ [>|].*$/, "").replace(/\\$/, "").trim()
  )
    .filter((line) => /^[a-z-]/.test(line) && !line.includes("..."));
}

function exists(path: string): boolean {
  try {
    Deno.statSync(join(ROOT, path));
    return true;
  } catch {
    return false;
  }
}

Deno.test("every metric in the alerts and the dashboard exists, with its labels", () => {
  for (const page of ["docs/observability.md", "docs/grafana.json"]) {
    const text = read(page);
    for (const [, name = ""] of text.matchAll(/\b(quartermaster_[a-z_]+?)(?:_bucket)?\b(?![.])/g)) {
      assert.ok(name in METRICS, `${page}: ${name}`);
    }
    const uses = text.matchAll(
      /by \(([a-z, ]+)\) \((?:rate\()?(quartermaster_[a-z_]+?)(?:_bucket)?[\[{)]/g,
    );
    for (const [, labels = "", name = ""] of uses) {
      const { labels: known = [] } = METRICS[name as keyof typeof METRICS] as { labels?: string[] };
      for (const label of labels.split(", ")) {
        assert.ok(label === "le" || known.includes(label), `${page}: ${name} has no ${label}`);
      }
    }
  }
});
