import assert from "node:assert/strict";
import { Catalog } from "./catalog.ts";
import { canonicalDescription, shownFingerprint } from "./catalog_tool.ts";
import { armOf, type Reader, type ServedText, type TrialUnit } from "./served_texts.ts";

const TRIAL = { id: "trial_1", share: 50 };
const OWN = "Gets data.";

function openCatalog(...texts: ServedText[]) {
  const catalog = new Catalog({}, { cursor: "claude" });
  const text = JSON.stringify({ name: "find", description: OWN, inputSchema: { type: "object" } });
  catalog.setListed("library", [text]);
  const serve = (...texts: ServedText[]) =>
    catalog.setPromotions(texts.map((one) => ({ server: "library", toolName: "find", ...one })));
  serve(...texts);
  const { served } = catalog;
  const shown = (reader: Reader) => served.shownTo(catalog.of("library").tools[0]!, reader);
  return {
    catalog,
    served,
    serve,
    shown,
    of: (reader: Reader) => shown(reader).definition.description,
  };
}

/** Sessions in each arm. */
function units(trial = TRIAL, count = 2_000) {
  const all = Array.from({ length: count }, (_, nth) => `session ${nth}`);
  return Map.groupBy(all, (unit) => armOf(trial, unit));
}

Deno.test("a client gets its family's text, else the one for all, else the server's own", () => {
  const { of, serve, shown, served } = openCatalog({ description: "For GPT", family: "gpt" });
  assert.deepEqual([of({ family: "gpt" }), of({ family: "claude" }), of({})], [
    "For GPT",
    OWN,
    OWN,
  ]);
  serve({ description: "For all" }, { description: "For GPT", family: "gpt" });
  assert.deepEqual([of({ family: "gpt" }), of({ family: "claude" }), of({})], [
    "For GPT",
    "For all",
    "For all",
  ]);
  assert.equal(canonicalDescription(shown({ family: "gpt" })), OWN);
  assert.notEqual(shownFingerprint(shown({ family: "gpt" })), shownFingerprint(shown({})));
  assert.equal(shown({ family: "gpt" }), shown({ family: "gpt" }), "made once");
  assert.deepEqual(
    [served.audienceOf({ family: "gpt" }), served.audienceOf({ family: "grok" })],
    ["gpt", ""],
  );
  assert.equal(served.audienceOf({ family: "gpt" }, "other"), "", "nothing of that server differs");
  const profile = { protocolVersion: "2025-11-25", capabilities: {} };
  const familyOf = (name: string) =>
    served.readerOf({ profile: { ...profile, clientInfo: { name, version: "1" } } }).family;
  assert.deepEqual(["codex-mcp-client", "cursor-vscode", "zed"].map(familyOf), [
    "gpt",
    "claude",
    undefined,
  ]);
});

Deno.test("a live A/B draws arms at random, by session, and differently for each trial", () => {
  const drawn = units();
  const share = drawn.get("promoted")!.length / 2_000;
  assert.ok(share > 0.45 && share < 0.55, String(share));
  const few = units({ id: "trial_2", share: 10 }).get("promoted")!;
  assert.ok(few.length > 150 && few.length < 250, String(few.length));
  const both = new Set(drawn.get("promoted")!).intersection(
    new Set(units({ id: "trial_3", share: 50 }).get("promoted")!),
  );
  assert.ok(both.size > 400 && both.size < 600, "trials are independent");
  assert.equal(armOf(TRIAL, undefined), "promoted", "where no session is known");
});

Deno.test("the arm without a promoted text gets what it would get without the promotion", () => {
  const [promoted, other] = ["promoted", "other"].map((arm) =>
    ({ unit: units().get(arm as "promoted")![0]!, family: "gpt" }) as const
  );
  const { of, serve, served, catalog } = openCatalog({ description: "Tried", trial: TRIAL });
  const seen: TrialUnit[] = [];
  served.onShown((units) => void seen.push(...units));
  assert.deepEqual([of(promoted!), of(other!), of({})], ["Tried", OWN, "Tried"]);
  served.noteShown(catalog.of("library").tools, other!);
  assert.deepEqual(seen.map(({ trialId, arm }) => [trialId, arm]), [["trial_1", "other"]]);
  assert.ok(!JSON.stringify(seen).includes(other!.unit), "a session's id grants access");
  assert.deepEqual(served.trialOf({ server: "library", tool: "find" }, other!), seen[0]);
  assert.deepEqual(served.trialsOf(other!), seen);

  serve({ description: "For all" }, { description: "Tried", family: "gpt", trial: TRIAL });
  assert.deepEqual([of(promoted!), of(other!)], ["Tried", "For all"]);
  assert.deepEqual(of({ unit: other!.unit }), "For all");
  assert.equal(
    served.trialOf({ server: "library", tool: "find" }, { unit: other!.unit }),
    undefined,
  );
  serve({ description: "For all" });
  assert.equal(served.hasTrials, false);
  assert.equal(served.audienceOf(other!), "");
});

Deno.test("texts for parameters are served with their description, and nothing else changes", () => {
  const text = '{"inputSchema":{"properties":{"year":{"maximum":9007199254740993}},' +
    '"type":"object"},"name":"find","description":"Gets data."}';
  const { catalog, served } = openCatalog();
  catalog.setListed("library", [text]);
  const serve = (...texts: ServedText[]) =>
    catalog.setPromotions(texts.map((one) => ({ server: "library", toolName: "find", ...one })));
  const shown = (reader: Reader) => served.shownTo(catalog.of("library").tools[0]!, reader);
  const before = shown({});
  assert.equal(before.text, text);

  const forAll = { description: OWN, parameters: { year: "Of print" } };
  serve(forAll, { description: "For GPT", family: "gpt" });
  const withYear = text.replace("993}", '993,"description":"Of print"}');
  assert.equal(shown({}).text, withYear);
  assert.deepEqual(shown({}).definition, JSON.parse(withYear));
  assert.notEqual(shownFingerprint(shown({})), shownFingerprint(before));
  // A family's text has no part of the one for all.
  assert.equal(shown({ family: "gpt" }).text, text.replace("Gets data.", "For GPT"));
  assert.deepEqual(
    shown({ family: "gpt" }).definition,
    JSON.parse(text.replace("Gets data.", "For GPT")),
  );

  // A live A/B shows them to one arm.
  const [promoted, other] = (["promoted", "other"] as const).map((arm) => units().get(arm)![0]!);
  serve({ ...forAll, trial: TRIAL });
  assert.deepEqual([shown({ unit: promoted }).text, shown({ unit: other }).text], [withYear, text]);
  serve(forAll, { description: "For GPT", family: "gpt" });

  let published = 0;
  catalog.onChange(() => published++);
  serve(forAll, { description: "For GPT", family: "gpt" });
  assert.equal(published, 0, "nothing has changed");
  serve({ ...forAll, parameters: { year: "Of print", gone: "Not there" } });
  assert.equal(published, 1);
  assert.equal(shown({}).text, withYear, "what the schema does not have is passed over");
  serve();
  assert.equal(shown({}).text, text);
});
