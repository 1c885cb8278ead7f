import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import {
  CANONICAL,
  GoldenPrompt,
  MAX_DESCRIPTION,
  OptimizationJob,
  ToolCandidate,
} from "../core/optimization.ts";
import { fieldHints } from "./fields.ts";
import {
  HOW,
  jobOutcomeText,
  nextOfJob,
  NOTHING_STARTED,
  SPEND,
  warningsOfJob,
  WRITE_PARAMETERS,
} from "./jobs.ts";
import { counted } from "../core/text.ts";
import { parameterLines, type ParameterTexts } from "../core/tool_text.ts";
import { correctWord, estimateText, resultLines } from "./optimization/outcomes.ts";
import {
  AskedResults,
  CandidateCount,
  CandidateId,
  CandidateResults,
  EditedPrompt,
  JobEstimate,
  MOST_SAVED_PROMPTS,
  PromptCount,
  PromptId,
  ReportedRun,
  SavedPrompts,
  TOOL,
  WrittenPrompt,
} from "./optimization/schemas.ts";
import { LABEL_OPERATIONS } from "./prompt_labels.ts";
import { decidedBy, MANAGES, operation, type OutputOf, READS } from "./operation.ts";

const WRITE = { ...MANAGES, rights: ["optimize"] } as const;
const PromptsOfCategory = PromptCount.register(fieldHints, {
  help: "Number of prompts of this category",
});
const Warnings = z.array(z.string());
const Text = { placeholder: "TEXT" };

const propose = operation({
  ...WRITE,
  name: "optimization.propose",
  title: "Propose",
  description: `Save a better description for a tool, at most ${MAX_DESCRIPTION} characters.`,
  // Its length is checked by the service, whose message has the actual length.
  input: z.strictObject({
    ...TOOL,
    description: z.string().register(fieldHints, { ...Text, help: "The description" }),
    parameters: z.record(z.string(), z.string()).optional()
      .describe("Descriptions of parameters, by path: filter.since, tags[]")
      .register(fieldHints, { isHidden: true }),
    example: z.string().optional()
      .register(fieldHints, {
        ...Text,
        help: "An example of when to call the tool; for your own notes",
      }),
  }),
  output: z.object({ candidateId: z.string(), charCount: z.int(), candidate: ToolCandidate }),
  mcp: "propose_candidate",
  cli: "optimize propose TOOL",
  async run({ optimization }, input, call) {
    const candidate = await (await optimization()).propose(input, decidedBy(call));
    return { candidateId: candidate.id, charCount: candidate.charCount, candidate };
  },
  text: ({ candidate: { id, server, toolName, charCount, parameters = {} } }) =>
    `Saved candidate ${id} for ${server}.${toolName}: ` +
    `${charCount} of ${MAX_DESCRIPTION} characters${parameterCount(parameters)}.`,
  next: ({ candidate: { id, server, toolName } }) => [
    {
      label: "Evaluate it",
      operation: "optimization.evaluate",
      input: { tool: `${server}.${toolName}`, candidateId: id },
    },
    {
      label: "If the tool has no prompts yet, save some",
      operation: "optimization.save_prompts",
      input: { tool: `${server}.${toolName}`, prompts: "FILE" },
    },
    {
      label: "Or try each prompt yourself and report the results",
      operation: "optimization.record",
    },
  ],
});

const savePrompts = operation({
  ...WRITE,
  name: "optimization.save_prompts",
  title: "Save prompts",
  description:
    "Save test prompts for a tool: direct and indirect ones should call it, negative ones should not.",
  input: z.strictObject({
    ...TOOL,
    prompts: z.array(WrittenPrompt).min(1).max(MOST_SAVED_PROMPTS)
      .register(fieldHints, {
        flag: "file",
        placeholder: "FILE",
        completes: "file",
        help: "Save the prompts in this JSON file",
      }),
    mode: z.enum(["replace", "merge"]).default("replace")
      .describe("replace retires the tool's other prompts"),
  }),
  output: SavedPrompts,
  mcp: "save_golden_prompts",
  cli: "optimize prompts TOOL",
  async run({ optimization }, input, call) {
    const { prompts } = await optimization();
    return plainWarnings(await prompts.save(input, decidedBy(call)));
  },
  text: savedText,
  next: () => [
    { label: "If there is no candidate yet, save one", operation: "optimization.propose" },
    { label: "Evaluate a candidate with these prompts", operation: "optimization.evaluate" },
    { label: "Or report results for these prompt ids", operation: "optimization.record" },
  ],
});

const listPrompts = operation({
  ...READS,
  name: "optimization.prompts",
  title: "List golden prompts",
  description: "List a tool's golden prompts.",
  input: z.strictObject(TOOL),
  output: z.object({ prompts: z.array(GoldenPrompt), warnings: Warnings }),
  cli: "optimize prompts TOOL",
  async run({ optimization }, input) {
    const { prompts, warnings } = await (await optimization()).detail(input);
    return plainWarnings({ prompts, warnings });
  },
});

const editPrompt = operation({
  ...WRITE,
  name: "optimization.edit_prompt",
  title: "Edit a golden prompt",
  description: "Save a new version of a prompt. Earlier results stay with the previous version.",
  input: z.strictObject({ ...TOOL, ...EditedPrompt.shape }),
  output: z.object({ prompt: GoldenPrompt }),
  cli: "optimize edit-prompt TOOL ID",
  run: async ({ optimization }, input) => (
    { prompt: await (await optimization()).prompts.edit(input) }
  ),
  text: ({ prompt: { id, version } }) => `Saved ${id} as version ${version}.`,
});

const retirePrompt = operation({
  ...WRITE,
  name: "optimization.retire_prompt",
  title: "Retire a golden prompt",
  description: "Stop using a prompt in evaluations. Its results stay.",
  input: z.strictObject({ ...TOOL, id: PromptId }),
  output: z.object({ retired: z.string() }),
  cli: "optimize retire-prompt TOOL ID",
  async run({ optimization }, input) {
    await (await optimization()).prompts.retire(input);
    return { retired: input.id };
  },
  text: ({ retired }) => `Retired ${retired}.`,
});

const generateCandidates = operation({
  ...SPEND,
  name: "optimization.generate_candidates",
  title: "Write candidates",
  description: "Have a model write candidates for a tool.",
  input: z.strictObject({
    ...TOOL,
    count: CandidateCount.clone().register(fieldHints, { help: "Number of candidates" }),
    parameters: WRITE_PARAMETERS,
  }),
  output: z.object({
    candidateIds: z.array(z.string()),
    candidates: z.array(ToolCandidate),
    warnings: Warnings,
  }),
  mcp: "generate_candidates",
  async run({ optimization }, input, { sample, signal }) {
    const admin = await optimization();
    const { candidates, warnings } = await admin.generateCandidates(input, sample, signal);
    return { candidateIds: candidates.map(({ id }) => id), candidates, warnings };
  },
  text: ({ candidates }) => candidatesText(candidates),
  next: () => [
    {
      label: "If the tool has no prompts yet, write some",
      operation: "optimization.generate_prompts",
    },
    { label: "Evaluate each candidate", operation: "optimization.evaluate" },
  ],
});

const generatePrompts = operation({
  ...SPEND,
  name: "optimization.generate_prompts",
  title: "Write prompts",
  description: "Have a model write test prompts for a tool.",
  input: z.strictObject({
    ...TOOL,
    directCount: PromptsOfCategory,
    indirectCount: PromptsOfCategory,
    negativeCount: PromptsOfCategory,
  }),
  output: SavedPrompts,
  mcp: "generate_golden_prompts",
  async run({ optimization }, input, { sample, signal }) {
    const admin = await optimization();
    return plainWarnings(await admin.generatePrompts(input, sample, signal));
  },
  text: savedText,
  next: () => [
    {
      label: "If the tool has no candidates yet, write some",
      operation: "optimization.generate_candidates",
    },
    { label: "Evaluate each candidate", operation: "optimization.evaluate" },
  ],
});

const generate = operation({
  ...SPEND,
  name: "optimization.generate",
  title: "Write candidates and prompts",
  description: "Have a model write candidates and golden prompts for a tool.",
  input: z.strictObject({
    ...TOOL,
    candidates: CandidateCount.unwrap().optional()
      .describe(
        `Number of candidates; ${CandidateCount.def.defaultValue} if you set neither number`,
      )
      .register(fieldHints, { placeholder: "N" }),
    prompts: PromptCount.unwrap().min(1).optional()
      .describe(
        `Number of prompts per category; ${PromptCount.def.defaultValue} if you set neither number`,
      )
      .register(fieldHints, { placeholder: "N" }),
    parameters: WRITE_PARAMETERS,
  }),
  output: z.object({
    candidates: z.array(ToolCandidate),
    prompts: z.array(GoldenPrompt),
    warnings: Warnings,
  }),
  cli: "optimize generate TOOL",
  async run({ optimization }, input, { sample, signal }) {
    const admin = await optimization();
    const named = admin.locate(input);
    const isBoth = input.candidates === undefined && input.prompts === undefined;
    const each = isBoth ? PromptCount.parse(undefined) : input.prompts ?? 0;
    const count = isBoth ? CandidateCount.parse(undefined) : input.candidates ?? 0;
    const counts = { directCount: each, indirectCount: each, negativeCount: each };
    // Prompts first: candidates are written with them in view.
    const saved = each === 0
      ? { prompts: [], warnings: [] }
      : await admin.generatePrompts({ ...named, ...counts }, sample, signal);
    const written = count === 0 ? { candidates: [], warnings: [] } : await admin.generateCandidates(
      { ...named, count, parameters: input.parameters },
      sample,
      signal,
    );
    return plainWarnings({
      candidates: written.candidates,
      prompts: saved.prompts,
      warnings: [...saved.warnings, ...written.warnings],
    });
  },
  text: ({ candidates, prompts }) =>
    [
      ...(prompts.length === 0 ? [] : [`Saved ${counted(prompts.length, "prompt")}.`]),
      ...(candidates.length === 0 ? [] : [candidatesText(candidates)]),
    ].join("\n"),
});

const record = operation({
  ...WRITE,
  name: "optimization.record",
  title: "Report a run",
  description: "Report the result of a prompt that you tried with a description yourself.",
  input: ReportedRun,
  output: z.object({
    runId: z.string(),
    correct: z.boolean(),
    isError: z.boolean(),
    warnings: Warnings.optional(),
  }),
  mcp: "record_eval_run",
  cli: "optimize record TOOL CANDIDATE PROMPT",
  async run({ optimization }, report) {
    const run = await (await optimization()).results.record(report);
    const claimed = report.result.correct;
    if (run.isError || claimed === undefined || claimed === run.correct) return run;
    const warning = `You reported ${
      correctWord(claimed)
    }, but the prompt's expected behavior decides`;
    return { ...run, warnings: [warning] };
  },
  text: ({ runId, correct, isError }) =>
    `Recorded run ${runId}: ${isError ? "error, not counted" : correctWord(correct)}.`,
  next: () => [
    {
      label: `For the candidate and for "${CANONICAL}", report the other prompts`,
      operation: "optimization.record",
    },
    { label: "When all runs are reported, compare them", operation: "optimization.results" },
    {
      label: "To promote the candidate, have the gateway evaluate it",
      operation: "optimization.evaluate",
    },
  ],
});

const results = operation({
  ...READS,
  name: "optimization.results",
  title: "Results",
  description: "Get a tool's success rates, with counts, intervals and verdicts.",
  input: AskedResults,
  output: z.object({ candidates: z.array(CandidateResults) }),
  mcp: "get_eval_results",
  run: async ({ optimization }, input) => (
    { candidates: await (await optimization()).results.list(input) }
  ),
  text({ candidates }, { server }) {
    const isEmpty = candidates.every(({ evidence }) => evidence === null);
    const lines = [...Map.groupBy(candidates, ({ tool }) => tool)].flatMap(([tool, results]) => [
      `${server === undefined ? "" : `${server}.`}${tool}:`,
      ...results.flatMap(resultLines).map((line) => `  ${line}`),
    ]);
    const head = isEmpty ? ["No evaluation runs found - run evaluations first"] : [];
    return [...head, ...lines].join("\n");
  },
  next({ candidates }) {
    const ready = candidates.find(({ evidence }) =>
      evidence?.problem === undefined && evidence?.verdict?.promote
    );
    return [
      ...(ready
        ? [{
          label: `Promote ${ready.candidateId} for ${ready.tool}`,
          operation: "optimization.promote",
        }]
        : []),
      {
        label: "Evaluate candidates with no data or only reported runs",
        operation: "optimization.evaluate",
      },
      ...(ready ? [] : [{ label: "Try a better description", operation: "optimization.propose" }]),
    ];
  },
});

const evaluate = operation({
  ...SPEND,
  name: "optimization.evaluate",
  title: "Evaluate",
  description: "Test a candidate against the descriptions in use. No tool is run.",
  input: z.strictObject({
    ...TOOL,
    candidateId: CandidateId,
    ...HOW,
    wait: z.number().min(0).max(300).default(45).describe("Seconds")
      .register(fieldHints, { isHidden: true }),
  }),
  output: z.object({
    job: OptimizationJob.optional(),
    estimate: JobEstimate,
    candidates: z.array(CandidateResults).optional().describe("Present once the job has completed"),
    warnings: Warnings.optional(),
  }),
  mcp: "evaluate_candidate",
  cli: "optimize evaluate TOOL CANDIDATE",
  follow: {
    waitSeconds: ({ wait }) => wait,
    estimate: {
      operation: "job.estimate",
      input({ server, tool, candidateId, wait: _, ...how }) {
        const target = server === undefined ? { tools: [tool] } : { server, tools: [tool] };
        return {
          ...target,
          ...how,
          candidateIds: [candidateId],
          generate: how.depth === "thorough",
          autoPromote: false,
        };
      },
    },
    result: {
      operation: "optimization.results",
      input: ({ job }) => ({ server: job?.tools[0]?.server, tool: job?.tools[0]?.toolName }),
      add: (output, { candidates }: OutputOf<typeof results>, { candidateId }) => ({
        ...output,
        candidates: candidates.filter((each) =>
          each.evidence && (each.candidateId === candidateId || each.candidateId === CANONICAL)
        ),
      }),
    },
  },
  async run({ optimization }, { candidateId, wait: _, server, tool, dryRun, ...how }, call) {
    const admin = await optimization();
    const named = admin.locate({ server, tool });
    const candidate = await admin.resolveCandidate({ ...named, candidateId });
    // Prompts that the candidate's author may know confirm nothing: fresh ones are written.
    const generate = how.depth === "thorough";
    const { prompts } = await admin.detail({ ...named, tool: candidate.toolName });
    if (prompts.length === 0 && !generate) throw withoutPrompts(candidate);
    const request = {
      server: named.server,
      tools: [candidate.toolName],
      options: { ...how, generate, autoPromote: false, candidateIds: [candidate.id] },
      principal: call.principal,
      by: decidedBy(call),
    };
    const estimate = await admin.jobs.estimate(request);
    if (dryRun) return { job: undefined, estimate };
    const job = await admin.jobs.start(request);
    return { job, estimate, ...warningsOfJob(job) };
  },
  text: ({ job, candidates = [], estimate }) =>
    job
      ? [...candidates.flatMap(resultLines), jobOutcomeText(job)].join("\n")
      : `Estimate: ${estimateText(estimate)}.\n${NOTHING_STARTED}`,
  next: ({ job }) => job ? nextOfJob(job) : [],
});

export const EVALUATION_OPERATIONS = {
  propose,
  savePrompts,
  listPrompts,
  editPrompt,
  retirePrompt,
  ...LABEL_OPERATIONS,
  generate,
  generateCandidates,
  generatePrompts,
  evaluate,
  record,
  results,
};

function savedText({ saved, prompts, retired = 0 }: SavedPrompts): string {
  const [first] = prompts;
  const others = retired === 0 ? "" : `, retired ${counted(retired, "other")}`;
  return [
    `Saved ${counted(saved, "prompt")} for ${first?.server}.${first?.toolName}${others}:`,
    ...prompts.map(({ id, category, prompt }) => `- ${id} (${category}): ${prompt}`),
  ].join("\n");
}

function candidatesText(candidates: readonly ToolCandidate[]): string {
  const [first] = candidates;
  const whose = first ? ` for ${first.server}.${first.toolName}` : "";
  return [
    `Saved ${counted(candidates.length, "candidate")}${whose}:`,
    ...candidates.flatMap(({ id, charCount, description, parameters }) => [
      `- ${id} (${charCount} characters): ${description}`,
      ...parameterLines(parameters).map((line) => `  ${line}`),
    ]),
  ].join("\n");
}

/** ", 2 parameter descriptions" */
function parameterCount(parameters: ParameterTexts): string {
  const { length } = Object.keys(parameters);
  return length === 0 ? "" : `, ${counted(length, "parameter description")}`;
}

/** Each entrance marks warnings itself. */
function plainWarnings<T extends { warnings: string[] }>(output: T): T {
  return {
    ...output,
    warnings: output.warnings.map((warning) => warning.replace(/^Warning: /, "")),
  };
}

function withoutPrompts({ id, server, toolName }: ToolCandidate): GatewayError {
  const tool = `${server}.${toolName}`;
  return new GatewayError("CANNOT_EVALUATE", {
    message: `Cannot evaluate "${id}" for ${tool}: the tool has no golden prompts`,
    recoveryAction: "Save golden prompts for the tool, then evaluate again",
    next: [
      {
        label: "Save prompts",
        operation: "optimization.save_prompts",
        input: { tool, prompts: "FILE" },
      },
      { label: "Or have a model write them", operation: "optimization.generate", input: { tool } },
      { label: "Or have a model write them", operation: "optimization.generate_prompts" },
    ],
  });
}
