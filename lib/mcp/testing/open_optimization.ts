import assert from "node:assert/strict";
import { canonicalDescription } from "../../catalog/catalog_tool.ts";
import { GatewayError } from "../../core/errors.ts";
import { EVERYONE } from "../../core/access.ts";
import { CATEGORIES } from "../../core/optimization.ts";
import { someTexts } from "../../optimizer/testing/job_bench.ts";
import { catalogTargets } from "../../optimizer/targets.ts";
import type { Evaluator } from "../../optimizer/evaluators/evaluator.ts";
import { OptimizationJobs } from "../../optimizer/jobs/queue.ts";
import { LiveTrials } from "../../optimizer/live/trials.ts";
import { Promotions } from "../../optimizer/promotions.ts";
import { TrialSessionsRepository } from "../../storage/trial_sessions_repository.ts";
import type { TextModel } from "../../optimizer/generation/text_model.ts";
import {
  CandidatesRepository,
  EvalRunsRepository,
  EvaluationsRepository,
  GoldenPromptsRepository,
} from "../../storage/optimization_repositories.ts";
import { JobsRepository } from "../../storage/jobs_repository.ts";
import { PromotionsRepository } from "../../storage/promotions_repository.ts";
import { Store } from "../../storage/store.ts";
import { resolveTool } from "../../catalog/resolve.ts";
import { catalogOf, listed } from "../../catalog/toolsets/testing/toolsets.ts";
import type { ToolContext } from "../builtin_tool.ts";
import { OptimizationAdmin } from "../../operations/optimization_admin.ts";
import { JOB_OPERATIONS } from "../../operations/jobs.ts";
import { operationTools } from "../../operations/mcp.ts";
import { OPTIMIZATION_OPERATIONS } from "../../operations/optimization.ts";
import { servicesOf } from "../../operations/testing/services.ts";

/** A description that the stand-in for a model understands, and prompts that tell. */
export const GOOD = "Weather forecast for a city: rain, umbrella, temperature";
export const PROMPTS = [
  { category: "direct", prompt: "Get the weather in Paris for tomorrow" },
  { category: "indirect", prompt: "Should I take an umbrella to my meeting?" },
  { category: "negative", prompt: "What is the capital city of France called?" },
] as const;

/** Calls the tool on trial where its description has a word of the prompt's in it. */
const evaluator: Evaluator = {
  kind: "messages-api",
  model: "stand-in",
  check: () => Promise.resolve(),
  run({ prompt, tools, target }) {
    const { text = "{}" } = tools.find(({ name }) => name === target) ?? {};
    const words = String(JSON.parse(text).description).toLowerCase().match(/[a-z]{5,}/g) ?? [];
    const isMeant = words.some((word) => prompt.toLowerCase().includes(word));
    return Promise.resolve({
      status: "ok",
      calls: isMeant ? [{ name: target, arguments: {} }] : [],
      reasoning: "",
      durationMs: 1,
      cost: { inputTokens: 1, outputTokens: 1 },
    });
  },
};

/** Never answers. */
const hanging: Evaluator = {
  ...evaluator,
  async run({ signal }) {
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
    signal.throwIfAborted();
    return await aborted.promise;
  },
};

/** Optimization of `weather.forecast` and its sibling; what models say is made up. */
export async function openOptimization(
  { isEnabled = true, equipped = {} }: {
    isEnabled?: boolean;
    /** Tools of other servers that are equipped, by server. */
    equipped?: Record<string, string[]>;
  } = {},
) {
  const store = await Store.open({ location: ":memory:" });
  const { catalog, names } = catalogOf({
    weather: ["forecast", "alerts"],
    empty: [],
    ...equipped,
  });
  const subjects = catalogTargets({
    equippedName: () => undefined,
    toolset: () => [],
    catalog,
    names,
    equipped: () => Object.keys(equipped).flatMap((server) => catalog.of(server).tools),
  });
  const repositories = {
    candidates: new CandidatesRepository(store),
    prompts: new GoldenPromptsRepository(store),
    runs: new EvalRunsRepository(store),
    evaluations: new EvaluationsRepository(store),
  };
  const promotions = new Promotions({
    repository: new PromotionsRepository(store),
    canonical: (server, tool) => subjects.find(server, tool)?.canonicalDescription,
    parameters: (server, tool) => subjects.find(server, tool)?.parameters ?? {},
    onChange: (all) => catalog.setPromotions(all),
  });
  const trials = new LiveTrials({
    promotions,
    served: catalog.served,
    sessions: new TrialSessionsRepository(store),
    isCommand: true,
    onEnded: () => {},
    onWarning: () => {},
  });
  const state = {
    isEnabled,
    isHanging: false,
    /** Whether the model writes prompts once `written` is used up. */
    isWriting: false,
    written: [] as string[],
    asked: [] as string[],
  };
  const model: TextModel = {
    kind: "messages-api",
    complete({ system, prompt }) {
      state.asked.push(prompt);
      const isForPrompts = state.isWriting && !system.includes('{"candidates"');
      const text = state.written.shift() ?? (isForPrompts ? promptsFor(prompt) : "{}");
      return Promise.resolve({ text, cost: { inputTokens: 1, outputTokens: 1 } });
    },
  };
  const controller = new AbortController();
  const jobs = new OptimizationJobs({
    ...repositories,
    jobs: new JobsRepository(store),
    promotions,
    openDiscovery: () => {
      throw new Error("Nothing is found by search here");
    },
    targets: subjects,
    evaluator: () => Promise.resolve(state.isHanging ? hanging : evaluator),
    textModel: () => Promise.resolve(model),
    concurrency: 2,
    owner: "test",
    isOwnerAlive: () => Promise.resolve(true),
    isEnabled: () => state.isEnabled,
    onChange: () => {},
    onWarning: () => {},
    signal: controller.signal,
  });
  const admin = new OptimizationAdmin({
    ...repositories,
    promotions,
    jobs,
    trials,
    subjects,
    textModel: () => Promise.resolve(model),
    isEnabled: () => state.isEnabled,
    setEnabled: (on) => Promise.resolve(void (state.isEnabled = on)),
    mayPromote: (principal) => principal === EVERYONE,
    evaluatorInfo: () =>
      Promise.resolve({ kind: "messages-api", model: "stand-in", problem: null }),
    findTool(name) {
      const table = names.of(catalog.snapshot);
      const tool = resolveTool({ table, naming: "namespaced", withDisabled: true }, name);
      return { server: tool.server, tool: tool.name };
    },
    hasServer: (name) => catalog.snapshot.servers.has(name),
    canonicalTools(server) {
      if (!catalog.snapshot.servers.has(server)) throw new GatewayError("SERVER_NOT_FOUND");
      return catalog.of(server).tools.map((tool) => ({
        name: tool.name,
        description: canonicalDescription(tool) ?? null,
        inputSchema: subjects.find(server, tool.name)?.definition.inputSchema,
      }));
    },
  });
  const services = servicesOf({
    optimization: () => Promise.resolve(admin),
    isOptimizing: () => state.isEnabled,
  });
  const operations = [...Object.values(OPTIMIZATION_OPERATIONS), ...Object.values(JOB_OPERATIONS)];
  const tools = operationTools(operations, services);
  return {
    ...repositories,
    admin,
    jobs,
    promotions,
    state,
    services,
    tools,
    /** As if the server listed its tools anew. */
    describe: (description: string, parameters?: Record<string, unknown>) =>
      catalog.setListed("weather", [listed("forecast", description, parameters), listed("alerts")]),
    /** As if the server had these tools alone. */
    listTools: (names: readonly string[]) =>
      catalog.setListed("weather", names.map((name) => listed(name))),
    /** What a client is shown. */
    shown: () => catalog.of("weather").tools[0]?.definition.description,
    shownText: () => catalog.of("weather").tools[0]?.text,
    async call(name: string, args: Record<string, unknown> = {}, context?: Partial<ToolContext>) {
      const tool = tools.find((tool) => tool.name === name)!;
      tool.admit?.();
      const { signal } = controller;
      const done = await tool.run(tool.input.parse(args), {
        signal,
        principal: EVERYONE,
        from: () => "a test",
        ...context,
      });
      assert.ok("text" in done);
      return done;
    },
    async [Symbol.asyncDispose]() {
      controller.abort();
      await jobs[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** Prompts that GOOD understands, or prompts for the sibling if the request names that first. */
function promptsFor(request: string): string {
  const [tool] = /forecast|alerts/.exec(request) ?? [];
  const about = tool === "forecast" ? "weather" : "alerts";
  return JSON.stringify({ prompts: CATEGORIES.flatMap((category) => someTexts(category, about)) });
}

export type OpenOptimization = Awaited<ReturnType<typeof openOptimization>>;

/** Saves the prompts, and one candidate with this text; gives their ids. */
export async function draft(
  { admin }: Pick<OpenOptimization, "admin">,
  description = GOOD,
): Promise<{ candidateId: string; promptIds: string[] }> {
  const named = { server: "weather", tool: "forecast" };
  const { prompts } = await admin.prompts.save({ ...named, prompts: PROMPTS }, "caller");
  const { id } = await admin.propose({ ...named, description }, "caller");
  return { candidateId: id, promptIds: prompts.map((prompt) => prompt.id) };
}

/** Tests a candidate on fresh prompts, without promoting it. */
export async function confirmCandidate(
  { jobs, state }: Pick<OpenOptimization, "jobs" | "state">,
  candidateId: string,
): Promise<void> {
  state.isWriting = true;
  const { id } = await jobs.start({
    server: "weather",
    tools: ["forecast"],
    options: { depth: "thorough", autoPromote: false, candidateIds: [candidateId] },
    by: "caller",
  });
  const done = await jobs.wait(id, 60_000, AbortSignal.timeout(60_000));
  assert.equal(done.status, "completed", done.note);
}

/** Reports one run, as a caller. */
export function report(
  { admin }: Pick<OpenOptimization, "admin">,
  candidateId: string,
  promptId: string,
  toolCalled: boolean,
) {
  const result = { toolCalled, durationMs: 5 };
  return admin.results.record({ server: "weather", candidateId, promptId, result });
}
