import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import {
  CANONICAL,
  type CategoryScores,
  type Evaluation,
  type PromotedTool,
  Thresholds,
} from "../core/optimization.ts";
import { OptimizationReport } from "../core/optimization_report.ts";
import { noMetrics } from "./evaluation/metrics.ts";
import {
  reportCsv,
  reportData,
  reportMarkdown,
  reportOf,
  RESTART_NOTE,
  type ToolReportInput,
} from "./report.ts";

const TIME = "2026-01-01T00:00:00.000Z";

/** So many of five correct in each category. */
function metricsOf(direct: number, indirect: number, negative: number): CategoryScores {
  const score = (correct: number) => ({ correct, total: 5 });
  return {
    direct: score(direct),
    indirect: score(indirect),
    negative: score(negative),
    overall: { correct: direct + indirect + negative, total: 15 },
  };
}

function evaluationOf(metrics: CategoryScores, more: Partial<Evaluation> = {}): Evaluation {
  return {
    id: "eval_1",
    server: "weather",
    toolName: "get_forecast",
    depth: "quick",
    startedAt: TIME,
    endedAt: TIME,
    evaluator: "claude-cli",
    thresholds: Thresholds.parse({}),
    prompts: { direct: 5, indirect: 5, negative: 5 },
    repeats: 1,
    results: [{
      candidateId: CANONICAL,
      description: "Weather.",
      metrics,
      errors: 0,
      confusion: {},
      ranks: {},
    }],
    runs: 15,
    errors: 0,
    cost: { inputTokens: 0, outputTokens: 0 },
    warnings: [],
    ...more,
  };
}

function promotionOf(more: Partial<PromotedTool> = {}): PromotedTool {
  return {
    id: "promotion_1",
    server: "weather",
    toolName: "get_forecast",
    candidateId: "candidate_1",
    promotedAt: TIME,
    description: "Tells the weather of the coming days.",
    baseline: metricsOf(2, 2, 5),
    metrics: metricsOf(5, 4, 5),
    evaluationId: "eval_1",
    depth: "quick",
    by: "job",
    canonicalDescription: "Weather.",
    ...more,
  };
}

function priced(costUsd: number) {
  return { inputTokens: 1, outputTokens: 1, costUsd };
}

const UNPRICED = { inputTokens: 1, outputTokens: 1 };

function factsOf(tool: string, more: Partial<ToolReportInput> = {}): ToolReportInput {
  return {
    tool,
    enabled: true,
    stale: false,
    evaluations: [],
    runs: 0,
    costs: [],
    candidates: 0,
    goldenPrompts: 0,
    ...more,
  };
}

const optimized = factsOf("get_forecast", {
  promotion: promotionOf(),
  evaluations: [evaluationOf(metricsOf(2, 2, 5))],
  runs: 30,
  costs: [priced(0.25)],
  candidates: 4,
  goldenPrompts: 15,
});

Deno.test("reportOf() says what is optimized, what was evaluated and kept, and what is neither", () => {
  const kept = factsOf("get_current", {
    evaluations: [
      evaluationOf(metricsOf(0, 0, 5), { id: "eval_3", void: "9 of 15 runs failed" }),
      evaluationOf(metricsOf(5, 5, 5), { id: "eval_2", depth: "thorough" }),
    ],
    runs: 60,
    costs: [priced(0.5)],
  });
  const failed = factsOf("get_alerts", {
    enabled: false,
    evaluations: [evaluationOf(metricsOf(0, 0, 5), { void: "all runs failed" })],
  });
  const report = reportOf("weather", [optimized, kept, failed]);
  assert.deepEqual(OptimizationReport.parse(report), report);
  assert.deepEqual({
    ...report,
    tools: undefined,
    avgImprovement: undefined,
    avgImprovementInterval: undefined,
  }, {
    serverName: "weather",
    toolCount: 3,
    optimizedCount: 1,
    totalEvals: 90,
    avgImprovement: undefined,
    avgImprovementInterval: undefined,
    costUsd: 0.75,
    tools: undefined,
  });
  assert.deepEqual(
    report.tools.map(({ name, status, depth, prompts }) => [name, status, depth, prompts]),
    [
      ["get_forecast", "optimized", "quick", 15],
      ["get_current", "baseline", "thorough", 15],
      ["get_alerts", "unoptimized", undefined, undefined],
    ],
  );
  assert.deepEqual(report.tools[0]?.before, metricsOf(2, 2, 5));
  assert.deepEqual(report.tools[0]?.after, metricsOf(5, 4, 5));
  assert.deepEqual(report.tools[1]?.before, metricsOf(5, 5, 5));
  assert.equal(report.tools[1]?.after, undefined);
});

Deno.test("reportOf() averages the gain of promoted tools that were measured on both sides", () => {
  const more = [
    factsOf("b", { promotion: promotionOf({ metrics: metricsOf(2, 2, 5) }) }),
    factsOf("c", { promotion: promotionOf({ metrics: undefined, baseline: undefined }) }),
    factsOf("d", { promotion: promotionOf({ baseline: noMetrics() }) }),
    factsOf("e", { evaluations: [evaluationOf(metricsOf(5, 5, 5))] }),
  ];
  const { avgImprovement } = reportOf("weather", [optimized, ...more]);
  assert.ok(avgImprovement !== null && Math.abs(avgImprovement - (5 / 15 + 0) / 2) < 1e-12);
  assert.equal(reportOf("weather", more.slice(1)).avgImprovement, null);
});

Deno.test("reportMarkdown() shows depth, prompts, intervals, cost and the note", () => {
  const text = reportMarkdown([
    reportOf("weather", [optimized, factsOf("get_radar", { enabled: false })]),
    reportOf("files", []),
  ]);
  assert.match(
    text,
    /^# Tool descriptions\n\n1 of 2 tools optimized, average improvement \+33\.3 points \(95 % interval 3 to 58\), 30 runs, \$0\.25\n/,
  );
  assert.match(text, /\n## weather\n\n1 of 2 tools optimized/);
  assert.match(text, /\n## files\n\n0 of 0 tools optimized, no improvement data/);
  assert.ok(
    text.includes(
      "| `get_forecast` | optimized | 2/5 (40 %) → 5/5 (100 %) | 2/5 (40 %) → 4/5 (80 %) | " +
        "5/5 (100 %) → 5/5 (100 %) | 9/15 (60 %, 95 % interval 36-80 %) → " +
        "14/15 (93 %, 95 % interval 70-99 %) | +33.3 points (95 % interval 3 to 58) | quick, 15 prompts | $0.25 |",
    ),
    text,
  );
  assert.match(text, /\| `get_radar` \| unoptimized, disabled \|/);
  assert.ok(text.endsWith(`${RESTART_NOTE}\n`));
});

Deno.test("reportMarkdown() keeps each tool in its row, whatever its name", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (name) => {
    const text = reportMarkdown([reportOf("weather", [factsOf(name), factsOf("a`|\n|b")])]);
    const rows = text.split("\n").filter((line) => line.startsWith("| "));
    assert.equal(rows.length, 4);
    for (const row of rows) assert.equal(row.match(/(?<!\\)\|/g)?.length, 10, row);
  }));
});

/** A reader of RFC 4180 by its grammar. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  const field = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/y;
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    assert.ok(match, "not RFC 4180");
    const [, raw = "", end] = match;
    rows.at(-1)?.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (end === "\r\n") rows.push([]);
  }
  assert.deepEqual(rows.pop(), []);
  return rows;
}

Deno.test("reportCsv() has one line per tool with its counts", () => {
  const [header = [], ...rows] = readCsv(
    reportCsv([reportOf("weather", [optimized, factsOf("get_radar")])]),
  );
  const records = rows.map((row) =>
    Object.fromEntries(header.map((name, index) => [name, row[index]]))
  );
  assert.equal(rows.length, 2);
  const [first, second] = records;
  assert.deepEqual(
    [first?.server, first?.tool, first?.status, first?.depth, first?.prompts, first?.cost_usd],
    ["weather", "get_forecast", "optimized", "quick", "15", "0.25"],
  );
  assert.deepEqual([first?.before_direct_correct, first?.before_direct_total], ["2", "5"]);
  assert.deepEqual([first?.after_overall_correct, first?.after_overall_total], ["14", "15"]);
  assert.deepEqual([second?.status, second?.before_overall_rate], ["unoptimized", ""]);
});

Deno.test("reportCsv() can be read back and holds no formula", () => {
  const piece = fc.constantFrom(
    "=",
    "+",
    "-",
    "@",
    '"',
    ",",
    "\r\n",
    "\t",
    " ",
    "'",
    "a",
    "1",
    "＝",
  );
  const name = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(""));
  fc.assert(fc.property(name, name, (one, other) => {
    const [header, ...rows] = readCsv(
      reportCsv([reportOf("weather", [factsOf(one), factsOf(other)])]),
    );
    assert.equal(rows.length, 2);
    [one, other].forEach((wanted, index) => {
      const row = rows[index];
      assert.equal(row?.length, header?.length);
      const isRisky = /^[\s]*[=+\-@＝]|^[\t\r\n]/.test(wanted);
      assert.equal(row?.[1], isRisky ? `'${wanted}` : wanted);
    });
    for (const field of rows.flat()) assert.doesNotMatch(field, /^\s*[=+\-@]/);
  }));
  const [, row] = readCsv(reportCsv([reportOf("weather", [factsOf('=HYPERLINK("http://x")')])]));
  assert.equal(row?.[1], `'=HYPERLINK("http://x")`);
});

Deno.test("reportOf() takes nothing for a baseline that was measured with another text of the server's", () => {
  const evaluations = [evaluationOf(metricsOf(2, 2, 5))];
  const statusOf = (canonical?: string) =>
    reportOf("weather", [
      factsOf("get_forecast", { evaluations, ...canonical === undefined ? {} : { canonical } }),
    ]).tools[0]?.status;
  assert.deepEqual([statusOf("Weather."), statusOf()], ["baseline", "baseline"]);
  assert.equal(statusOf("Rewritten."), "unoptimized");
});

Deno.test("reportOf() knows from the promotion how many prompts stand behind it", () => {
  const promptsOf = (more: Partial<PromotedTool>) => {
    const { evaluationId: _, ...promotion } = promotionOf({ source: "reported", ...more });
    return reportOf("weather", [factsOf("get_forecast", { promotion })]).tools[0]?.prompts;
  };
  const metrics = { ...metricsOf(5, 4, 5), overall: { correct: 14, total: 15, prompts: 7 } };
  // Those that have runs, whatever was planned.
  assert.equal(promptsOf({ metrics, prompts: 15 }), 7);
  assert.equal(promptsOf({ metrics: undefined, prompts: 9 }), 9);
});

Deno.test("reportMarkdown() and reportCsv() do not show what has no price as free", () => {
  const unpriced = reportOf("weather", [
    { ...optimized, costs: [UNPRICED] },
    factsOf("get_current"),
  ]);
  assert.deepEqual([unpriced.costUsd, unpriced.costKnown], [null, false]);
  assert.deepEqual(unpriced.tools.map(({ costUsd, costKnown }) => [costUsd, costKnown]), [
    [null, false],
    [0, undefined],
  ]);
  const text = reportMarkdown([unpriced]);
  assert.match(text, /30 runs, cost not known\n/);
  assert.match(text, /`get_forecast` .* \| not known \|/);
  assert.match(text, /`get_current` .* \| \$0\.00 \|/);
  const [, first = "", second = ""] = reportCsv([unpriced]).split("\r\n");
  assert.deepEqual([first.endsWith(",15,,no,0,,"), second.endsWith(",0,0,yes,0,,")], [true, true]);
  assert.match(reportMarkdown([reportOf("weather", [optimized])]), /30 runs, \$0\.25\n/);
});

Deno.test("reportMarkdown(), reportCsv() and totals say where a part of the cost is not known", () => {
  const partly = reportOf("weather", [{ ...optimized, costs: [priced(0.25), UNPRICED] }]);
  const whole = reportOf("library", [factsOf("find_books", { costs: [priced(0.5)] })]);
  const { total } = reportData([partly, whole]);
  assert.deepEqual([total.costUsd, total.costKnown], [0.75, false]);
  assert.equal(OptimizationReport.parse(partly).tools[0]?.costKnown, false);
  const text = reportMarkdown([partly, whole]);
  assert.match(text, /30 runs, at least \$0\.75\n/);
  assert.match(text, /`get_forecast` .* \| at least \$0\.25 \|/);
  assert.match(text, /0 runs, \$0\.50\n/);
  const [header, first] = reportCsv([partly]).split("\r\n");
  assert.match(header ?? "", /,cost_usd,cost_known,tools_beside,setting,models$/);
  assert.match(first ?? "", /,0\.25,no,0,,$/);
});

Deno.test("reportOf() lets no evaluation that was cut short displace a whole one", () => {
  const cut = evaluationOf(
    {
      direct: { correct: 1, total: 1 },
      indirect: { correct: 0, total: 0 },
      negative: { correct: 0, total: 0 },
      overall: { correct: 1, total: 1 },
    },
    { id: "eval_2" },
  );
  const whole = evaluationOf(metricsOf(2, 2, 5));
  const toolOf = (evaluations: Evaluation[]) =>
    reportOf("weather", [factsOf("get_forecast", { evaluations })]).tools[0];
  const found = toolOf([cut, whole]);
  assert.deepEqual([found?.before, found?.prompts], [metricsOf(2, 2, 5), 15]);
  assert.equal(toolOf([cut])?.prompts, 1, "those that have runs, not those that were planned");
});

Deno.test("reportData() has the servers, all of them together, and the note", () => {
  const other = reportOf("library", [factsOf("find_books", { runs: 5, costs: [priced(0.5)] })]);
  const { reports, total, note } = reportData([reportOf("weather", [optimized]), other]);
  assert.equal(reports.length, 2);
  const { toolCount, optimizedCount, totalEvals, costUsd } = total;
  assert.deepEqual([toolCount, optimizedCount, totalEvals, costUsd], [2, 1, 35, 0.75]);
  assert.equal(total.avgImprovement, reports[0]?.avgImprovement);
  assert.equal(note, RESTART_NOTE);
});

Deno.test("reportOf() says what was shown beside the server's own tools, promoted or not", () => {
  const beside = ["shop_find_books", "shop_refund"];
  const evaluations = [evaluationOf(metricsOf(2, 2, 5), { beside })];
  for (const facts of [{ ...optimized, evaluations }, factsOf("get_current", { evaluations })]) {
    const report = reportOf("weather", [facts]);
    assert.equal(OptimizationReport.parse(report).tools[0]?.beside, 2);
    assert.match(
      reportMarkdown([report]),
      /quick, 15 prompts, alongside 2 tools of other servers \|/,
    );
    assert.match(reportCsv([report]), /,2,,\r\n$/);
  }
});

Deno.test("reportOf() takes a thorough evaluation before a newer quick one", () => {
  const evaluations = [
    evaluationOf(metricsOf(5, 5, 5), { id: "eval_2" }),
    evaluationOf(metricsOf(2, 2, 5), { depth: "thorough" }),
  ];
  const { depth, before } = reportOf("weather", [factsOf("get_current", { evaluations })])
    .tools[0]!;
  assert.deepEqual([depth, before], ["thorough", metricsOf(2, 2, 5)]);
});
