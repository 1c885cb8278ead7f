import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { CategoryScores, OptimizationJob, Verdict } from "../lib/core/optimization.ts";
import { findMarked } from "../lib/servers/processes/process_group.ts";
import { connect, type EndpointClient } from "./combined_endpoints.ts";
import {
  type ChoosingModel,
  choosingModel,
  type ChoosingModelOptions,
} from "./fixtures/choosing_model.ts";
import { claudeTest } from "./fixtures/claude_cli.ts";
import { libraryCalls, libraryServer } from "./fixtures/library_server.ts";
import { type ModelStandIn, startModelStandIn } from "./fixtures/model_stand_in.ts";
import { IS_FULL } from "./full.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

/** What has not come about by then is stuck. */
const JOB_LIMIT_MS = 300_000;

const Result = z.looseObject({
  candidateId: z.string(),
  counts: CategoryScores,
  evidence: z.looseObject({
    errors: z.number(),
    problem: z.string().optional(),
    verdict: Verdict.optional(),
  }).nullable(),
  runs: z.array(z.looseObject({
    promptId: z.string(),
    status: z.enum(["ok", "error"]),
    correct: z.boolean(),
    error: z.string().optional(),
  })),
});
export type Result = z.infer<typeof Result>;

/** As many of each category for `find_books`; the negative ones say whose they are. */
export const PROMPTS: {
  category: "direct" | "indirect" | "negative";
  prompt: string;
  expectedTool?: string;
}[] = [
  { category: "direct", prompt: "Search the catalog for books by Ursula Le Guin" },
  { category: "direct", prompt: "Which titles by the author Italo Calvino are there?" },
  { category: "indirect", prompt: "I would like something to read about the subject of Rome" },
  { category: "indirect", prompt: "What novels on bees could somebody read on a train?" },
  {
    category: "negative",
    prompt: "On which day of the week is it open late?",
    expectedTool: "opening_hours",
  },
  {
    category: "negative",
    prompt: "Which of the loans of member Ada is due first?",
    expectedTool: "list_loans",
  },
];

/** Right for every prompt. */
export const GOOD =
  "Finds books in the catalog by title, author or subject. Use when someone wants " +
  "novels or anything else to read. Not for loans, members or the days that it is open.";
/** Right for its own prompts, and takes those of its siblings as well. */
export const GREEDY =
  "Finds books in the catalog by title, author or subject, and novels to read; says " +
  "on which day of the week it is open late, and which loans of a member are due first.";
/** As poor as the server's own. */
export const VAGUE = "Handles things.";

export { claudeTest };

/** With the real CLI where all is tried; else with the Messages API, which takes a tenth of it. */
export async function evaluatorTest(
  name: string,
  run: (claude?: string) => Promise<void>,
): Promise<void> {
  if (IS_FULL) await claudeTest(name, run);
  else Deno.test(name, () => run());
}

export interface LabOptions extends ChoosingModelOptions {
  /** The program that evaluates; without it, the evaluator is the Messages API. */
  claude?: string | undefined;
  flags?: string[];
  env?: Record<string, string>;
}

/** A gateway with a library behind it, and a model that chooses tools by their descriptions. */
export class Lab implements AsyncDisposable {
  readonly folder: string;
  readonly seen: ChoosingModel["seen"];
  readonly #model: ModelStandIn;
  readonly #options: LabOptions;
  readonly #gateways: RunningGateway[] = [];

  private constructor(folder: string, options: LabOptions) {
    const { script, seen } = choosingModel(options);
    this.folder = folder;
    this.seen = seen;
    this.#options = options;
    this.#model = startModelStandIn(script);
  }

  static async open(options: LabOptions): Promise<Lab> {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_lab_" });
    const lab = new Lab(folder, options);
    try {
      const mcpServers = { library: libraryServer(lab.#callsFile) };
      await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
      await lab.start();
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
    return lab;
  }

  /** The one that was started last. */
  get gateway(): RunningGateway {
    const gateway = this.#gateways.at(-1);
    assert.ok(gateway, "No gateway was started");
    return gateway;
  }

  /** One more gateway on the same data; ready to be asked. */
  async start(
    { enabled = true, flags = this.#options.flags ?? [] }: { enabled?: boolean; flags?: string[] } =
      {},
  ): Promise<RunningGateway> {
    const { claude } = this.#options;
    const gateway = await startGateway([
      ...enabled ? ["--enable-optimization"] : [],
      ...claude === undefined
        ? ["--evaluator", "messages-api"]
        : ["--evaluator", "claude-cli", "--claude-path", claude],
      ...["--eval-model", "stand-in", ...flags],
    ], {
      dataDir: this.folder,
      env: {
        ANTHROPIC_BASE_URL: this.#model.url,
        ANTHROPIC_API_KEY: "any",
        ...this.#options.env,
      },
    });
    this.#gateways.push(gateway);
    await until(async () => {
      const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
      return servers.ready === 1 || undefined;
    });
    return gateway;
  }

  /** A client at the endpoint of the gateway's own tools. */
  manager(): Promise<EndpointClient> {
    return connect(this.gateway.url, "/gateway/mcp");
  }

  /** Programs that know the model's address, the gateways apart: those that evaluate. */
  async processes(): Promise<number[]> {
    const gateways = this.#gateways.map(({ pid }) => pid);
    const found = await findMarked(`ANTHROPIC_BASE_URL=${this.#model.url}`);
    return found.filter((pid) => !gateways.includes(pid));
  }

  /** The tools of the server itself that were called. */
  downstreamCalls(): Promise<string[]> {
    return libraryCalls(this.#callsFile);
  }

  /** The descriptions of `find_books` that the model was given with a prompt, in order. */
  given(prompt: string): string[] {
    return this.seen.filter((seen) => seen.prompt === prompt && !seen.isFollowUp)
      .flatMap(({ descriptions }) =>
        Object.entries(descriptions).filter(([name]) => name.endsWith("library_find_books"))
          .map(([, description]) => description)
      );
  }

  /** Ends everything, and makes sure that no program is left and that the server was not called. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const gateway of this.#gateways) await gateway.stop();
    const [left, calls] = [await this.processes(), await this.downstreamCalls()];
    await this.#model[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
    assert.deepEqual(left, [], "Processes were left behind");
    assert.deepEqual(calls, [], "Tools of the server were called");
  }

  get #callsFile(): string {
    return join(this.folder, "calls.txt");
  }
}

/** Saves the prompts; gives their ids in the same order. */
export async function savePrompts(manager: EndpointClient, prompts = PROMPTS): Promise<string[]> {
  const { isError, text, data } = await manager.call("save_golden_prompts", {
    server: "library",
    tool: "find_books",
    prompts: prompts.map(({ category, prompt, expectedTool }) => ({
      category,
      prompt,
      expectedBehavior: {
        shouldCallTool: category !== "negative",
        ...expectedTool === undefined ? {} : { expectedTool },
      },
    })),
  });
  assert.ok(!isError && data.saved === prompts.length, text);
  return z.array(z.looseObject({ id: z.string() })).parse(data.prompts).map(({ id }) => id);
}

/** Saves a description; gives its id. */
export async function propose(manager: EndpointClient, description: string): Promise<string> {
  const input = { server: "library", tool: "find_books", description };
  const { isError, text, data } = await manager.call("propose_candidate", input);
  assert.ok(!isError && data.charCount === description.length, text);
  return String(data.candidateId);
}

/** Starts a job; gives its id. */
export async function startJob(
  manager: EndpointClient,
  tool: "evaluate_candidate" | "optimize_tools",
  input: Record<string, unknown>,
): Promise<string> {
  const { isError, text, data } = await manager.call(tool, { server: "library", ...input });
  assert.ok(!isError, text);
  return OptimizationJob.parse(data.job).id;
}

export async function jobOf(manager: EndpointClient, jobId: string): Promise<OptimizationJob> {
  const { data } = await manager.call("get_optimization_job", { jobId });
  return OptimizationJob.parse(data.job);
}

/** Asks until there is an answer, for as long as a job may take on a busy machine. */
export async function eventually<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (const over = performance.now() + JOB_LIMIT_MS; performance.now() < over;) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`It did not come about within ${JOB_LIMIT_MS} ms`);
}

/** Waits until a job runs no more. */
export function ended(manager: EndpointClient, jobId: string): Promise<OptimizationJob> {
  return eventually(async () => {
    const job = await jobOf(manager, jobId);
    return job.status === "running" ? undefined : job;
  });
}

/** Has a candidate evaluated to the end: a quick look, unless told otherwise. */
export async function evaluate(
  manager: EndpointClient,
  candidateId: string,
  depth: "quick" | "thorough" = "quick",
): Promise<OptimizationJob> {
  const input = { tool: "find_books", candidateId, depth, wait: 0 };
  return await ended(manager, await startJob(manager, "evaluate_candidate", input));
}

/** As a person does in the console, who may decide against a verdict or without one. */
export async function promoteAsPerson({ gateway }: Lab, candidateId: string): Promise<void> {
  const response = await fetch(
    new URL("/api/optimization/tools/library/find_books/promote", gateway.url),
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ candidateId, reason: "I read the runs" }),
    },
  );
  assert.equal(response.status, 200, await response.text());
}

/** What is known of a description of `find_books`. */
export async function resultOf(manager: EndpointClient, candidateId: string): Promise<Result> {
  const input = { server: "library", tool: "find_books" };
  const { isError, text, data } = await manager.call("get_eval_results", input);
  assert.ok(!isError, text);
  const found = z.array(Result).parse(data.candidates)
    .find((result) => result.candidateId === candidateId);
  assert.ok(found, text);
  return found;
}

/** "direct 2/2, indirect 2/2, negative 2/2": correct of all. */
export function countsText({ direct, indirect, negative }: CategoryScores): string {
  return Object.entries({ direct, indirect, negative })
    .map(([category, { correct, total }]) => `${category} ${correct}/${total}`).join(", ");
}
