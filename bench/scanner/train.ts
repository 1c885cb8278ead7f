/**
 * `deno run -A bench/scanner/train.ts`: learns the points of the signs and the weights of words, and
 * writes them into lib/trust/scanner/data/weights.ts. With `--folds=10`, nothing is written: of the
 * tuning half a tenth of the servers and sources is left out in turn and judged by what was learned
 * from the rest, at bars from low to high. `--ordinary=FOLDER` names further sets of ordinary
 * definitions, as JSON.
 */
import { fromFileUrl } from "@std/path";
import { verdictOf } from "../../lib/trust/scanner/scan.ts";
import { attacksOf, LOTS } from "../../tests/fixtures/attacks/attack_samples.ts";
import { type Bag, fit, judge } from "./fit.ts";
import { ordinaryIn, ordinarySets } from "./ordinary.ts";
import { weightsSource } from "./weights_text.ts";
import { findingsByRules, sentencesOf } from "./sentences.ts";
import { tuningHalf } from "./corpus.ts";

const WEIGHTS_FILE = fromFileUrl(
  new URL("../../lib/trust/scanner/data/weights.ts", import.meta.url),
);
/** Our own texts imitate the hardest ones, and are few; further sets are of talkative servers. */
const REPEATED = { own: 8, further: 2, tuning: 4, lots: 6 };

const valueOf = (name: string) =>
  Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const folders = Deno.args.filter((arg) => arg.startsWith("--ordinary=")).map((arg) =>
  arg.slice(11)
);
const folds = Number(valueOf("folds") ?? 0);

const always: Bag[] = [];
for (const path of ordinarySets(folders)) {
  const isFurther = folders.some((folder) => path.startsWith(folder));
  const times = path.endsWith(".jsonl") ? REPEATED.own : isFurther ? REPEATED.further : 1;
  for (const { part } of ordinaryIn(path)) {
    const bag: Bag = { sentences: sentencesOf([part]), isAttack: false };
    always.push(...Array.from({ length: times }, () => bag));
  }
}
for (const lot of LOTS) {
  for (const { parts } of attacksOf(lot)) {
    const bag: Bag = { sentences: sentencesOf(parts), isAttack: true };
    always.push(...Array.from({ length: REPEATED.lots }, () => bag));
  }
}
// The halves of the bench that rules may be written against; of the others nothing is learned.
const tuning = (await tuningHalf()).map(({ from, parts, isAttack }) => ({
  from,
  bag: { sentences: sentencesOf(parts), isAttack },
  isByRules: folds > 0 && verdictOf(findingsByRules(parts)) !== "clean",
}));

/** In their order, so that writers who come one after the other are left out one by one. */
const sources = [...new Set(tuning.map(({ from }) => from))];

if (folds > 0) crossValidate();
else {
  const weights = fit([...repeated(tuning), ...always]);
  Deno.writeTextFileSync(WEIGHTS_FILE, weightsSource(weights));
  await new Deno.Command(Deno.execPath(), { args: ["fmt", "-q", WEIGHTS_FILE] }).output();
}

function repeated(samples: typeof tuning): Bag[] {
  return samples.flatMap(({ bag }) => Array.from({ length: REPEATED.tuning }, () => bag));
}

function crossValidate(): void {
  const points = new Map<Bag, number>();
  for (let fold = 0; fold < folds; fold++) {
    const isLeftOut = ({ from }: { from: string }) => foldOf(from) === fold;
    const weights = fit([...repeated(tuning.filter((it) => !isLeftOut(it))), ...always]);
    for (const { bag } of tuning.filter(isLeftOut)) {
      points.set(bag, 2 * (judge(bag.sentences, weights) + 4));
    }
  }
  for (let bar = 8; bar <= 12; bar += 0.5) {
    const share = (isMeant: (sample: typeof tuning[number]) => boolean) => {
      const all = tuning.filter(isMeant);
      const found = all.filter(({ bag, isByRules }) => isByRules || points.get(bag)! >= bar);
      return `${found.length} of ${all.length} (${(100 * found.length / all.length).toFixed(2)} %)`;
    };
    const isBlind = ({ from }: { from: string }) => from.startsWith("blind writer");
    report(
      `bar ${bar}: attacks by blind writers ${share(isBlind)}, ` +
        `others ${share((it) => it.bag.isAttack && !isBlind(it))}, ` +
        `ordinary tools ${share(({ bag }) => !bag.isAttack)}`,
    );
  }
}

function foldOf(source: string): number {
  return sources.indexOf(source) % folds;
}

function report(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}
