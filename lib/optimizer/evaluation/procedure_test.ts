import assert from "node:assert/strict";
import { CATEGORIES, type PromptCategory } from "../../core/optimization.ts";
import { alphaOf, estimateGain, leastGain, logEvidence, YEARLY_ALPHA } from "./evidence.ts";
import { LEARNED, nextAction, type Trial, TRIAL_LIMITS, type TrialPrompt } from "./procedure.ts";

const DAY = 86_400_000;

Deno.test("logEvidence() is an e-value: its mean is 1 where nothing is better, at every length", () => {
  for (const [win, loss] of [[0.5, 0.5], [0.1, 0.1]] as const) {
    let mean = 0;
    const n = 6;
    // All outcomes of six prompts, with their probabilities.
    for (let code = 0; code < 3 ** n; code++) {
      const counts = { wins: 0, losses: 0, ties: 0 };
      let probability = 1;
      for (let at = 0, rest = code; at < n; at++, rest = Math.floor(rest / 3)) {
        const which = (["wins", "losses", "ties"] as const)[rest % 3]!;
        counts[which]++;
        probability *= which === "wins" ? win : which === "losses" ? loss : 1 - win - loss;
      }
      mean += probability * Math.exp(logEvidence(counts));
    }
    assert.ok(Math.abs(mean - 1) < 1e-9, String(mean));
  }
});

Deno.test("estimateGain() narrows with prompts and holds what was seen", () => {
  const of = (times: number) =>
    estimateGain([
      { wins: 6 * times, losses: times, ties: 13 * times },
      { wins: 0, losses: 0, ties: 10 * times },
    ]);
  const [few, many] = [of(1), of(10)];
  assert.ok(Math.abs(few.mean - 1 / 6) < 1e-9 && Math.abs(many.mean - 1 / 6) < 1e-9);
  assert.ok(many.high - many.low < few.high - few.low);
  assert.ok(many.low > 0 && many.high < 0.4, JSON.stringify(many));
  assert.deepEqual([few.prompts, many.prompts], [30, 300]);
  const nothing = { wins: 0, losses: 0, ties: 0 };
  const { low, high } = estimateGain([nothing, nothing]);
  assert.ok(low <= -0.99 && high >= 0.99, `${low} ${high}`);
});

Deno.test("alphaOf() spends no more than its share over all tests of any 365 days", () => {
  const earlier: string[] = [];
  let spent = 0;
  for (let now = 0; now < 364 * DAY; now += DAY) {
    spent += alphaOf({ earlier, now, tools: 1, promoted: 0 });
    earlier.push(new Date(now).toISOString());
  }
  assert.ok(spent <= YEARLY_ALPHA && spent > 0.9 * YEARLY_ALPHA, String(spent));
  const next = alphaOf({
    earlier: ["2020-01-01T00:00:00Z"],
    now: Date.now(),
    tools: 1,
    promoted: 0,
  });
  assert.equal(next, 0.6 * YEARLY_ALPHA, "what is longer ago does not count");
});

Deno.test("alphaOf() asks for more of the first tools of a large batch", () => {
  const of = (tools: number, promoted: number) => alphaOf({ earlier: [], now: 0, tools, promoted });
  assert.equal(of(3, 0), 0.6 * YEARLY_ALPHA);
  assert.equal(of(40, 0), 0.1 / 40);
  assert.equal(of(40, 3), 0.1 * 4 / 40);
  assert.equal(of(40, 39), 0.6 * YEARLY_ALPHA);
});

Deno.test("leastGain() falls with prompts, and is none with too few or without room for one", () => {
  assert.equal(leastGain(9, 0.024), undefined);
  const [few, many] = [leastGain(60, 0.024)!, leastGain(240, 0.024)!];
  assert.ok(few > many && few <= 35 && many >= 14, `${few} ${many}`);
  assert.ok(leastGain(60, 0.0001)! > few);
  const before = (direct: number, indirect: number) => ({ direct, indirect, negative: 0.97 });
  const good = leastGain(240, 0.024, before(0.85, 0.67))!;
  assert.ok(good < many && good >= 10, `${good}`);
  assert.equal(leastGain(240, 0.024, before(1, 1)), undefined);
  assert.equal(leastGain(240, 0.024, before(0.98, 0.95)), undefined);
});

/** A trial whose descriptions are right on shares of the prompts of each kind. */
function play(
  rates: Record<string, [own: number, others: number]>,
  more: Partial<Trial> = {},
  /** Prompts that every description but the canonical one gets wrong. */
  isTaken: (id: string) => boolean = () => false,
) {
  const fresh: TrialPrompt[] = [];
  const scores = new Map<string, number>();
  const asked: { prompt: TrialPrompt; descriptions: string[] }[] = [];
  const trial: Trial = {
    models: [{ id: "one" }],
    candidates: Object.keys(rates).filter((name) => name !== "canonical"),
    baselines: ["canonical"],
    alpha: 0.03,
    screen: CATEGORIES.flatMap((category) => prompts(category, "screen", 8)),
    fresh,
    isClosed: false,
    limits: TRIAL_LIMITS,
    score: (description, { id }) => scores.get(`${description} ${id}`),
    ...more,
  };
  for (;;) {
    const action = nextAction(trial);
    if (action.kind === "end") return { ...action, asked };
    if (action.kind === "write") {
      for (const category of CATEGORIES) fresh.push(...prompts(category, `f${fresh.length}`, 10));
      continue;
    }
    assert.equal(action.kind, "run");
    if (action.kind !== "run") continue;
    const descriptions = action.runs.map(({ description }) => description);
    asked.push({ prompt: action.prompt, descriptions });
    const { prompt: { id, category } } = action;
    for (const description of descriptions) {
      const [own, others] = rates[description]!;
      const rate = category === "negative" ? others : own;
      // Spread evenly, at another place for each description.
      const place = (Number(/\d+$/.exec(id)![0]) * 0.3819 + description.length * 0.17) % 1;
      const isWrong = isTaken(id) && description !== "canonical";
      scores.set(`${description} ${id}`, Number(place < rate && !isWrong));
    }
  }
}

function prompts(category: PromptCategory, name: string, count: number): TrialPrompt[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${name}-${category}-${name.length * 31 + index}`,
    category,
  }));
}

Deno.test("nextAction() tests the best of several on prompts that the screening has not seen", () => {
  const end = play({ canonical: [0.4, 1], best: [1, 1], equal: [0.4, 1], worse: [0.1, 1] });
  assert.equal(end.confirmed, "best");
  const fresh = end.asked.filter(({ prompt }) => !prompt.id.startsWith("screen"));
  assert.ok(fresh.every(({ descriptions }) => descriptions.join() === "best,canonical"));
  const screened = end.asked.filter(({ prompt }) => prompt.id.startsWith("screen"));
  assert.ok(screened.every(({ descriptions }) => !descriptions.includes("canonical")));
});

Deno.test("nextAction() asks some of each sibling's prompts before it confirms, and all where one is taken", () => {
  const others = ["sibling-a", "sibling-b"].flatMap((name) => prompts("negative", name, 4));
  const fresh = [...CATEGORIES.flatMap((category) => prompts(category, "f", 80)), ...others];
  const siblingOf = ({ id }: TrialPrompt) => /^sibling-./.exec(id)?.[0];
  const countsOf = (isTaken: (id: string) => boolean) => {
    const end = play({ canonical: [0.4, 1], new: [1, 1] }, { fresh, siblingOf }, isTaken);
    assert.equal(end.confirmed, "new", "the verdict decides on what was taken");
    assert.ok(end.attempts[0]!.prompts.every((prompt) => siblingOf(prompt) === undefined));
    const asked = end.asked.flatMap(({ prompt }) => siblingOf(prompt) ?? []);
    return ["sibling-a", "sibling-b"].map((name) => asked.filter((one) => one === name).length);
  };
  assert.deepEqual(countsOf(() => false), [3, 3]);
  assert.deepEqual(countsOf((id) => id.startsWith("sibling-b")), [3, 4]);
});

Deno.test("nextAction() gives a second candidate the baseline's runs of the first", () => {
  const end = play({ canonical: [0.6, 1], one: [0.6, 1], another: [0.6, 1] });
  assert.equal(end.confirmed, undefined);
  assert.equal(end.attempts.length, 2);
  const second = end.asked.filter(({ descriptions }) =>
    descriptions.includes(end.attempts[1]!.candidate) && !descriptions.includes("one") &&
    !descriptions.includes("another")
  );
  assert.ok(second.every(({ descriptions }) => descriptions.length === 1));
});

Deno.test("nextAction() needs a candidate to beat every baseline", () => {
  const rates = { canonical: [0.4, 1], "in force": [0.95, 1], new: [0.9, 1] } as const;
  const end = play(rates as unknown as Parameters<typeof play>[0], {
    candidates: ["new"],
    baselines: ["canonical", "in force"],
  });
  assert.equal(end.confirmed, undefined);
  assert.deepEqual(Object.keys(end.attempts[0]!.gains), ["canonical", "in force"]);
});

Deno.test("nextAction() refuses harm on others' prompts, whatever the gain", () => {
  const end = play({ canonical: [0.4, 1], thief: [1, 0.7] });
  assert.equal(end.attempts[0]?.outcome, "harm");
});

Deno.test("nextAction() only screens if nothing is to be confirmed", () => {
  const limits = { ...TRIAL_LIMITS, confirm: 0 };
  const end = play({ canonical: [0.4, 1], one: [1, 1], other: [0.1, 1] }, { limits });
  assert.deepEqual([end.attempts, end.confirmed], [[], undefined]);
  assert.equal(end.asked.length, 24);
  assert.ok(end.asked.every(({ descriptions }) => descriptions.length === 3));
});

Deno.test("nextAction() has candidates written from failures, and learns from no fresh prompt", () => {
  const prompts = (name: string, each: number): TrialPrompt[] =>
    Array.from(
      { length: each },
      (_, at) => CATEGORIES.map((category) => ({ id: `${name} ${category} ${at}`, category })),
    ).flat();
  const [screen, fresh] = [prompts("screen", 10), prompts("fresh", 80)];
  const scores = new Map<string, number>();
  const candidates: string[] = [];
  const parents: string[] = [];
  const trial: Trial = {
    models: [{ id: "one" }],
    candidates,
    baselines: ["canonical"],
    alpha: 0.03,
    screen,
    fresh,
    isClosed: true,
    limits: TRIAL_LIMITS,
    writing: { rounds: 3, first: 2, prompts: screen, parents },
    score: (description, { id }) => scores.get(`${description} ${id}`),
  };
  // Each round gets a further kind of prompts right.
  const right: Record<string, PromptCategory[]> = {
    canonical: ["negative"],
    c0: ["negative"],
    c1: ["negative", "direct"],
    c2: ["negative", "direct"],
    c3: ["negative", "direct", "indirect"],
  };
  const lessons: unknown[] = [];
  const asked: string[] = [];
  for (;;) {
    const action = nextAction(trial);
    if (action.kind === "run") {
      for (const { description: one } of action.runs) {
        asked.push(`${one} ${action.prompt.id}`);
        scores.set(
          `${one} ${action.prompt.id}`,
          Number(right[one]!.includes(action.prompt.category)),
        );
      }
      continue;
    }
    if (action.kind !== "reflect") {
      assert.equal(action.kind === "end" && action.confirmed, "c3");
      break;
    }
    const { parent, failures, count } = action;
    assert.ok(failures.every(({ id }) => id.startsWith("screen")));
    assert.ok(asked.every((one) => one.includes(" screen ")), "fresh prompts come last");
    lessons.push([parent, new Set(failures.map(({ category }) => category)), count]);
    parents.push(parent);
    for (let at = 0; at < count; at++) candidates.push(`c${candidates.length}`);
  }
  // The best has nothing left to learn, so that there is no third round.
  assert.deepEqual(lessons, [
    ["canonical", new Set(["direct", "indirect"]), 2],
    ["c1", new Set(["indirect"]), 2],
  ]);
  assert.equal(asked.filter((one) => one.startsWith("canonical screen")).length, LEARNED);
});
