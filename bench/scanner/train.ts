/**
 * `deno run -A bench/scanner/train.ts`: learns the points of the signs and the weights of words, and
 * writes them into lib/trust/scanner/data/weights.ts. With `--aside`, nothing is written: a fifth of the
 * servers, and the lot of attacks named by `--without=second`, are left out and counted instead.
 * `--ordinary=FOLDER` names further sets of ordinary definitions, as JSON.
 */
import { fromFileUrl } from "@std/path";
import { verdictOf } from "../../lib/trust/scanner/scan.ts";
import { attacksOf, LOTS } from "../../tests/fixtures/attacks/attack_samples.ts";
import { type Bag, fit, judge, type Weights } from "./fit.ts";
import { ordinaryIn, ordinarySets } from "./ordinary.ts";
import { weightsSource } from "./weights_text.ts";
import { findingsOf, sentencesOf } from "./sentences.ts";
import { tuningHalf } from "./corpus.ts";

const WEIGHTS_FILE = fromFileUrl(
  new URL("../../lib/trust/scanner/data/weights.ts", import.meta.url),
);
/** Our own texts imitate the hardest ones, and are few; further sets are of talkative servers. */
const REPEATED = { own: 8, further: 2, tuning: 3 };

/** How the finding begins that comes of what is learned here. */
const LEARNED = "It reads like an instruction";

const isAside = Deno.args.includes("--aside");
const folders = Deno.args.filter((arg) => arg.startsWith("--ordinary=")).map((arg) =>
  arg.slice(11)
);
const without = Deno.args.find((arg) => arg.startsWith("--without="))?.split("=")[1];

const attacks = LOTS.map((lot) => ({
  lot,
  bags: attacksOf(lot).map(({ parts }) => ({
    sentences: sentencesOf(parts),
    isAttack: true,
    isKnown: verdictOf(findingsOf(parts).filter(({ why }) => !why.startsWith(LEARNED))) !== "clean",
  })),
}));
// The halves of the bench that rules may be written against; of the others nothing is learned.
const others = await tuningHalf();
const learned: Bag[] = others.flatMap(({ parts, isAttack }) => {
  const bag: Bag = { sentences: sentencesOf(parts), isAttack };
  return Array.from({ length: REPEATED.tuning }, () => bag);
});
const aside: Bag[] = [];
for (const path of ordinarySets(folders)) {
  for (const { server, part } of ordinaryIn(path)) {
    const bag: Bag = { sentences: sentencesOf([part]), isAttack: false };
    const isOwn = path.endsWith(".jsonl");
    const isFurther = folders.some((folder) => path.startsWith(folder));
    const times = isOwn ? REPEATED.own : isFurther ? REPEATED.further : 1;
    if (isAside && !isOwn && isChosen(server)) aside.push(bag);
    else learned.push(...Array.from({ length: times }, () => bag));
  }
}
const weights = fit([
  ...learned,
  ...attacks.flatMap(({ lot, bags }) => isAside && lot === without ? [] : bags),
]);
report(`${learned.length} ordinary texts learned, ${aside.length} aside`);
if (isAside) count(weights);
else {
  Deno.writeTextFileSync(WEIGHTS_FILE, weightsSource(weights));
  await new Deno.Command(Deno.execPath(), { args: ["fmt", "-q", WEIGHTS_FILE] }).output();
}

/** What is flagged at bars from low to high. */
function count(weights: Weights): void {
  const points = (bags: readonly (Bag & { isKnown?: boolean })[]) =>
    bags.map(({ sentences, isKnown }) => isKnown === true ? Infinity : judge(sentences, weights));
  const ordinary = points(aside);
  const lots = attacks.map(({ lot, bags }) => ({ lot, all: points(bags) }));
  for (let bar = 8; bar <= 12; bar += 0.5) {
    const share = (all: readonly number[]) =>
      (100 * all.filter((it) => 2 * (it + 4) >= bar).length / all.length).toFixed(2);
    const found = lots.map(({ lot, all }) => `${lot}${lot === without ? "*" : ""} ${share(all)}`);
    report(`bar ${bar}: ordinary aside ${share(ordinary)} %, ${found.join(", ")} %`);
  }
}

function isChosen(server: string): boolean {
  let hash = 7;
  for (const letter of server) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  return hash % 5 === 0;
}

function report(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}
