/**
 * `deno task bench scanner`: what the scanner makes of servers from npm and of attacks, on the half
 * that the rules were written against and on the half that they were not. `--collect` starts the
 * servers first; `--tuning` leaves the held-out half alone, and `--show` names what was wrong in the
 * tuning half, never in the other.
 */
import { admission, type ScanVerdict } from "../../lib/catalog/tool_guard.ts";
import { takeOut } from "../../lib/catalog/tool_redaction.ts";
import { type Finding, scanText, scanTool, verdictOf } from "../../lib/trust/scanner/scan.ts";
import {
  type Attack,
  attacks,
  contextOf,
  contextOfAttack,
  type Half,
  ordinaryServers,
} from "./corpus.ts";
import { collectServers } from "./npm_servers.ts";

const HALVES: readonly Half[] = ["tuning", "held-out"];

export async function benchScanner(): Promise<void> {
  if (Deno.args.includes("--collect")) await collectServers(report);
  const isShown = Deno.args.includes("--show");
  for (const half of Deno.args.includes("--tuning") ? HALVES.slice(0, 1) : HALVES) {
    await countOrdinary(half, isShown && half === "tuning");
    await countAttacks(half, isShown && half === "tuning");
  }
}

async function countOrdinary(half: Half, isShown: boolean): Promise<void> {
  const servers = (await ordinaryServers()).filter((server) => server.half === half);
  const counts: Record<ScanVerdict, number> = { clean: 0, warn: 0, quarantine: 0 };
  let [removed, characters, instructions] = [0, 0, 0];
  for (const server of servers) {
    const around = contextOf(server, servers);
    const said = scanText("instructions", server.instructions ?? "", around);
    if (verdictOf(said) !== "clean") {
      instructions++;
      if (isShown) explain(`${server.name} (instructions)`, said);
    }
    for (const tool of server.tools) {
      const findings = scanTool(tool, around);
      const verdict = admission(verdictOf(findings), "normal", findings);
      counts[verdict]++;
      characters += JSON.stringify(tool).length;
      if (verdict === "clean") continue;
      removed += JSON.stringify(tool).length - JSON.stringify(takeOut(tool, findings)).length;
      if (isShown) explain(`${verdict} ${server.name} ${tool.name}`, findings);
    }
  }
  const tools = servers.reduce((sum, server) => sum + server.tools.length, 0);
  report(
    `${half}: ${servers.length} servers, ${tools} tools: ${
      share(counts.quarantine, tools)
    } quarantined, ` +
      `${share(counts.warn, tools)} warned; ${share(removed, characters)} characters taken out; ` +
      `${instructions} instructions found out`,
  );
}

async function countAttacks(half: Half, isShown: boolean): Promise<void> {
  const families = new Map<string, { all: number; noticed: number; withheld: number }>();
  const total = { all: 0, noticed: 0, withheld: 0, quarantined: 0 };
  for (const attack of (await attacks()).filter((each) => each.half === half)) {
    const findings = scanTool(attack.tool, contextOfAttack(attack));
    const verdict = verdictOf(findings);
    const family = families.get(attack.family) ?? { all: 0, noticed: 0, withheld: 0 };
    families.set(attack.family, family);
    for (const count of [family, total]) {
      count.all++;
      if (verdict !== "clean") count.noticed++;
      if (isWithheld(attack, findings)) count.withheld++;
    }
    if (verdict === "quarantine") total.quarantined++;
    if (!isShown || isWithheld(attack, findings)) continue;
    report(
      `  ${verdict === "clean" ? "missed" : "left"} ${attack.family} ${
        JSON.stringify(attack.tool)
      }`,
    );
    if (verdict !== "clean") explain("  left", findings);
  }
  report(
    `${half}: ${total.all} attacks: ${share(total.noticed, total.all)} noticed, ` +
      `${share(total.withheld, total.all)} withheld, ${
        share(total.quarantined, total.all)
      } quarantined`,
  );
  const rows = [...families].sort().map(([family, { all, noticed, withheld }]) =>
    `${family} ${noticed}/${withheld} of ${all}`
  );
  report(`  noticed/withheld: ${rows.join(", ")}`);
}

/** Quarantined, or nothing of the attack is left in what is served. */
function isWithheld({ tool, gone }: Attack, findings: readonly Finding[]): boolean {
  const verdict = verdictOf(findings);
  if (verdict !== "warn") return verdict === "quarantine";
  const served = strings(takeOut(tool, findings)).join("\n");
  return gone.every((words) => !served.includes(words));
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...strings(item)]);
}

function explain(subject: string, findings: readonly Finding[]): void {
  for (const { rule, severity, where, why, passage } of findings) {
    if (severity === "low") continue;
    report(
      `  ${subject} ${where}\n    ${severity} ${rule}: ${why}\n    ${JSON.stringify(passage)}`,
    );
  }
}

function share(some: number, all: number): string {
  return `${some} (${(100 * some / Math.max(all, 1)).toFixed(2)} %)`;
}

function report(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}
