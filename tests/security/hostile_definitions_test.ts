import assert from "node:assert/strict";
import { fromFileUrl } from "@std/path";
import * as z from "zod";
import {
  type Finding,
  type ScanContext,
  scanText,
  scanTool,
  verdictOf,
} from "../../lib/trust/scanner/scan.ts";
import { RULES } from "../../lib/trust/scanner/data/rules.ts";
import { attacksOf, LOTS, OTHER_SERVERS, OTHER_TOOLS } from "../fixtures/attacks/attack_samples.ts";
import { TWELVE_TOOLS } from "../fixtures/twelve_tools.ts";

/** One line of a fixture: a tool, or a text of a server. */
const Sample = z.union([
  z.strictObject({
    kind: z.string().optional(),
    server: z.string().optional(),
    definition: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({
    kind: z.string().optional(),
    server: z.string().optional(),
    where: z.string(),
    text: z.string(),
  }),
]);
type Sample = z.infer<typeof Sample>;

const RESERVED = new Set(["tool_discovery", "tool_execute", "tool_capabilities"]);

Deno.test("scanTool() and scanText() flag at least nine of ten hostile definitions", () => {
  const around: ScanContext = {
    server: "demo",
    otherTools: new Set(
      ["send_email", "read_file", "write_file", "create_issue", "transfer_funds"].concat(
        ["whatsapp_send_message", "post_message", "search_repositories"],
      ),
    ),
    otherServers: new Set(["github", "slack", "gmail", "filesystem", "whatsapp", "postgres"]),
    reserved: RESERVED,
  };
  const samples = samplesIn("attacks");
  assert.equal(samples.length, 100);
  const missed = samples.filter((sample) => verdictOf(scan(sample, around)) === "clean");
  assert.ok(missed.length <= 10, `missed:\n${missed.map((it) => JSON.stringify(it)).join("\n")}`);
});

Deno.test("scanTool() and scanText() flag less than one of a hundred ordinary definitions", () => {
  const samples = samplesIn("ordinary");
  assert.equal(samples.length, 200);
  const flagged = samples.flatMap((sample) => {
    const isOwn = (other: Sample) => other.server === sample.server;
    const others = namesOf(samples.filter((other) => !isOwn(other)));
    // These are single tools of servers that have more: what else they name is their own.
    const named = new Set(JSON.stringify(sample).match(/[a-z]+(?:_[a-z]+)+/g)).difference(others);
    const findings = scan(sample, {
      server: sample.server ?? "",
      otherTools: others,
      ownTools: namesOf(samples.filter(isOwn)).union(named),
      otherServers: new Set(
        samples.map(({ server }) => server ?? "").filter((it) => it !== sample.server),
      ),
      reserved: RESERVED,
    });
    return verdictOf(findings) === "clean" ? [] : [JSON.stringify({ sample, findings })];
  });
  assert.ok(flagged.length < 2, `flagged:\n${flagged.join("\n")}`);
});

Deno.test("scanTool() flags no tool of an ordinary server that explains itself at length", () => {
  const around: ScanContext = {
    server: "forge",
    otherTools: OTHER_TOOLS,
    otherServers: OTHER_SERVERS,
    reserved: RESERVED,
    ownTools: new Set(TWELVE_TOOLS.map(({ name }) => name)),
  };
  assert.equal(TWELVE_TOOLS.length, 12);
  for (const tool of TWELVE_TOOLS) {
    const findings = scanTool(tool, around);
    assert.equal(verdictOf(findings), "clean", JSON.stringify({ tool: tool.name, findings }));
  }
});

/** Shares that are reached with some room; strangers wrote all lots but the last. */
const FLOORS = { first: 0.93, second: 0.92, third: 0.96, fourth: 0.95, own: 0.68 };

for (const lot of LOTS) {
  Deno.test(`scanTool() and scanText() flag ${FLOORS[lot] * 100} % of the ${lot} lot of attacks`, () => {
    const samples = attacksOf(lot);
    assert.ok(samples.length >= 120);
    const missed = samples.filter(({ parts }) =>
      verdictOf(
        parts.flatMap((part) =>
          "definition" in part
            ? scanTool(part.definition, part.around)
            : scanText(part.where, part.text, part.around)
        ),
      ) === "clean"
    ).map(({ id }) => id);
    assert.ok(missed.length <= samples.length * (1 - FLOORS[lot]), `missed: ${missed.join(" ")}`);
  });
}

Deno.test("scanTool() says for each finding which rule, where and why, in few words", () => {
  const around: ScanContext = {
    server: "demo",
    otherTools: new Set(["send_email"]),
    otherServers: new Set(["gmail"]),
    reserved: RESERVED,
  };
  const known = new Set(RULES.map(({ id }) => id));
  const seen = samplesIn("attacks").flatMap((sample) => scan(sample, around));
  assert.ok(seen.length > 60);
  for (const { rule, where, excerpt, why } of seen) {
    assert.ok(known.has(rule), rule);
    assert.ok(where.length > 0 && where.length <= 200);
    assert.ok(excerpt.length <= 160, excerpt);
    assert.doesNotMatch(excerpt, /[\p{Cc}\p{Cf}]/u);
    assert.match(why, /^[A-Z].*\w$/);
  }
});

function scan(sample: Sample, around: ScanContext): Finding[] {
  return "definition" in sample
    ? scanTool(sample.definition, around)
    : scanText(sample.where, sample.text, around);
}

function namesOf(samples: readonly Sample[]): Set<string> {
  return new Set(
    samples.flatMap((sample) => "definition" in sample ? [String(sample.definition.name)] : []),
  );
}

function samplesIn(name: string): Sample[] {
  const path = fromFileUrl(new URL(`../fixtures/definitions/${name}.jsonl`, import.meta.url));
  return Deno.readTextFileSync(path).trim().split("\n").map((line) =>
    Sample.parse(JSON.parse(line))
  );
}
