/**
 * `deno run -A bench/scanner/run.ts`: what share of the attacks and of the ordinary definitions is
 * flagged. `--attacks=FILE` counts the attacks of a file instead, `--ordinary=FOLDER` adds sets of
 * ordinary definitions, and `--show` names what was missed and what was flagged.
 */
import { basename } from "@std/path";
import { verdictOf } from "../../lib/trust/scanner/scan.ts";
import {
  type AttackSample,
  attacksIn,
  attacksOf,
  LOTS,
} from "../../tests/fixtures/attacks/attack_samples.ts";
import { ordinaryIn, ordinarySets } from "./ordinary.ts";
import { findingsOf } from "./sentences.ts";

const valuesOf = (name: string) =>
  Deno.args.filter((arg) => arg.startsWith(`--${name}=`)).map((arg) => arg.slice(name.length + 3));
const isShown = Deno.args.includes("--show");
const files = valuesOf("attacks");

for (const file of files) countAttacks(basename(file), attacksIn(file));
if (files.length === 0) {
  for (const lot of LOTS) countAttacks(lot, attacksOf(lot));
  for (const path of ordinarySets(valuesOf("ordinary"))) countOrdinary(path);
}

function countAttacks(title: string, samples: readonly AttackSample[]): void {
  const families = new Map<string, { all: number; found: number }>();
  let [found, held] = [0, 0];
  for (const { id, family, parts } of samples) {
    const verdict = verdictOf(findingsOf(parts));
    const count = families.get(family) ?? { all: 0, found: 0 };
    families.set(family, count);
    count.all++;
    if (verdict === "quarantine") held++;
    if (verdict !== "clean") {
      count.found++;
      found++;
    } else if (isShown) report(`  missed ${id}`);
  }
  const by = [...families].map(([family, count]) => `${family} ${count.found}/${count.all}`);
  report(`${title}: ${share(found, samples.length)} found, ${held} held back (${by.join(", ")})`);
}

function countOrdinary(path: string): void {
  let [flagged, held] = [0, 0];
  const samples = ordinaryIn(path);
  for (const { id, part } of samples) {
    const findings = findingsOf([part]);
    const verdict = verdictOf(findings);
    if (verdict === "clean") continue;
    flagged++;
    if (verdict === "quarantine") held++;
    const { where, excerpt, why } = findings.find(({ severity }) => severity !== "low")!;
    if (isShown) report(`  ${verdict} ${id} ${where}: ${excerpt} (${why})`);
  }
  report(`${basename(path)}: ${share(flagged, samples.length)} flagged, ${held} held back`);
}

function share(some: number, all: number): string {
  return `${some} of ${all} (${(100 * some / all).toFixed(2)} %)`;
}

function report(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}
