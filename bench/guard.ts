/**
 * How often the content guard finds something in ordinary answers, how many poisoned ones it notices, and
 * what an answer without a finding costs: `deno task bench guard`. Ordinary texts are the documents of the packages in Deno's npm
 * cache; poisoned ones are the same with an attack planted at a random place. Both are split in two halves, by
 * package and by source. Rules are tuned on the first half; the other is counted only with `--held-out`.
 */
import { createHash } from "node:crypto";
import process from "node:process";
import { fromFileUrl, join } from "@std/path";
import { detect, isSuspicious } from "../lib/trust/content_guard/detect.ts";
import { attacksOf } from "../tests/fixtures/attacks/attack_samples.ts";

interface Attack {
  source: string;
  text: string;
}

const isHeldOut = Deno.args.includes("--held-out");
const isVerbose = Deno.args.includes("--verbose");
const LONGEST = 200_000;
const log = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
/** Families whose attack is text in a description; the others sit in a definition's structure. */
const FAMILIES =
  /^(hidden_instruction|concealment|exfil|secret|cross_server|shadowing|non_english)/;
const TUNING_LOTS = new Set(["first", "third"]);

export async function benchGuard(): Promise<void> {
  const ordinary = await ordinaryTexts();
  let flagged = 0;
  const rules = new Map<string, number>();
  for (const { name, text } of ordinary) {
    const found = detect(text);
    if (isSuspicious(JSON.stringify(text)) === false && found.length > 0) {
      log(`The first look missed: ${name} ${found[0]!.rule}`);
    }
    if (found.length === 0) continue;
    flagged++;
    for (const rule of new Set(found.map(({ rule }) => rule))) {
      rules.set(rule, (rules.get(rule) ?? 0) + 1);
    }
    if (!isVerbose) continue;
    for (const { rule, start, end } of found.slice(0, 3)) {
      log(
        `${name} [${rule}] ${JSON.stringify(text.slice(start, Math.min(end, start + 160)))}`,
      );
    }
  }
  log(`Ordinary: ${share(flagged, ordinary.length)} ${JSON.stringify([...rules])}`);

  const random = generator(7);
  for (const [group, attacks] of Map.groupBy(attacksToPlant(), ({ group }) => group)) {
    const missed: Attack[] = [];
    for (const attack of attacks) {
      const { text } = ordinary[Math.floor(random() * ordinary.length)]!;
      const at = placeIn(text, Math.floor(random() * text.length));
      const end = at + attack.text.length;
      const poisoned = `${text.slice(0, at)}\n\n${attack.text}\n\n${text.slice(at)}`;
      const isNoticed = isSuspicious(JSON.stringify(poisoned)) &&
        detect(poisoned).some((found) => found.start < end + 4 && found.end > at);
      if (!isNoticed) missed.push(attack);
    }
    log(
      `Poisoned, ${group}: ${share(attacks.length - missed.length, attacks.length)} noticed`,
    );
    if (isVerbose) {
      for (const { text } of missed) log(`  missed: ${JSON.stringify(text.slice(0, 400))}`);
    }
  }
  benchSpeed(ordinary.map(({ text }) => text).join("\n"));
}

async function ordinaryTexts(): Promise<{ name: string; text: string }[]> {
  const folder = join(Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`, "npm");
  const texts: { name: string; text: string }[] = [];
  const known = new Set<string>();
  async function walk(path: string): Promise<void> {
    for await (const entry of Deno.readDir(path)) {
      const inner = join(path, entry.name);
      if (entry.isDirectory) await walk(inner);
      else if (/\.(md|markdown|txt)$/i.test(entry.name)) {
        const text = (await Deno.readTextFile(inner)).slice(0, LONGEST);
        const hash = createHash("sha256").update(text).digest("hex");
        const name = inner.slice(folder.length + 1).split("/").slice(1).join("/");
        // The package: without host and version.
        const [scope = "", second = ""] = name.split("/");
        const half = halfOf(scope.startsWith("@") ? `${scope}/${second}` : scope);
        if (text.length < 200 || known.has(hash) || half !== isHeldOut) continue;
        known.add(hash);
        texts.push({ name, text });
      }
    }
  }
  await walk(folder);
  return texts;
}

function attacksToPlant(): (Attack & { group: string })[] {
  const path = fromFileUrl(new URL("../tests/fixtures/attacks/answers.jsonl", import.meta.url));
  const published: Attack[] = Deno.readTextFileSync(path).trim().split("\n")
    .map((line) => JSON.parse(line));
  const lots = (["first", "second", "third", "fourth"] as const)
    .filter((lot) => TUNING_LOTS.has(lot) !== isHeldOut)
    .flatMap((lot) =>
      attacksOf(lot).filter(({ family }) => FAMILIES.test(family)).flatMap(({ parts }) => {
        const text = parts.flatMap((part) => {
          const told = "definition" in part ? part.definition.description : part.text;
          return typeof told === "string" ? [told] : [];
        }).join("\n");
        return text.length > 60 ? [{ source: lot, text, group: "attacks on definitions" }] : [];
      })
    );
  return [
    ...published.filter(({ source }) => halfOf(source) === isHeldOut)
      .map((attack) => ({ ...attack, group: "published patterns" })),
    ...lots,
  ];
}

function halfOf(name: string): boolean {
  return createHash("sha256").update(name).digest()[0]! % 2 === 1;
}

/** The beginning of a line, where a page or a ticket would have it. */
function placeIn(text: string, near: number): number {
  const at = text.indexOf("\n", near);
  return at === -1 ? text.length : at;
}

function generator(seed: number): () => number {
  return () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}

function share(part: number, whole: number): string {
  return `${part} of ${whole} (${(part / whole * 100).toFixed(1)} %)`;
}

const SPEED_MS = 1_000;

/** What the first look costs, which is all that an ordinary answer costs; in CPU time of this process. */
function benchSpeed(text: string): void {
  const ascii = text.replaceAll(/[^\n -~]/g, "");
  const records = Array.from({ length: 8_000 }, (_, id) => ({
    id,
    name: `item ${id}`,
    url: `https://example.com/items/${id}`,
    isDone: id % 2 === 0,
    note: "The quick brown fox jumps over the lazy dog",
  }));
  const answerOf = (text: string) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text }] } });
  const answers = {
    "1 KB of Markdown": answerOf(ascii.slice(0, 950)),
    "1 MB of Markdown": answerOf(ascii.slice(0, 950_000)),
    "1 MB of JSON": answerOf(JSON.stringify(records).slice(0, 850_000)),
    "1 MB of Markdown, not only ASCII": answerOf(`${ascii.slice(0, 950_000)} é 漢`),
    "1 MB of base64": answerOf("iVBORw0KGgoAAAANSUhEUgAA".repeat(40_000)),
  };
  for (const [name, answer] of Object.entries(answers)) {
    for (let turn = 0; turn < 20; turn++) isSuspicious(answer);
    const [begun, used] = [performance.now(), process.cpuUsage().user];
    let turns = 0;
    for (; performance.now() - begun < SPEED_MS; turns++) isSuspicious(answer);
    const us = (process.cpuUsage().user - used) / turns;
    log(`${name}: ${us.toFixed(1)} µs, ${(answer.length / us).toFixed(0)} MB/s`);
  }
}
