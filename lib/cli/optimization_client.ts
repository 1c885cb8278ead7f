import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { type JobOptions, PromptCategory } from "../core/optimization.ts";
import {
  AllJobs,
  Enabled,
  Estimate,
  GeneratedCandidates,
  MaybePromotion,
  OneCandidate,
  OneJob,
  OnePromotion,
  Overview,
  type PromptRun,
  Reports,
  Results,
  SavedPrompts,
  ToolDetail,
} from "./optimization_answers.ts";

/** Asks a gateway's API, and answers in the shape that is wanted; for at most so long. */
export type AskGateway = <T>(
  schema: z.ZodType<T>,
  method: string,
  path: string,
  body?: unknown,
  limitMs?: number,
) => Promise<T>;

/** A tool by its server and the server's own name for it. */
export interface ToolRef {
  server: string;
  tool: string;
}

/** A prompt as people write it; what is left out follows from the category. */
export const WrittenPrompt = z.strictObject({
  /** Of a prompt that this is to be the next version of. */
  id: z.string().optional(),
  category: PromptCategory,
  prompt: z.string(),
  expectedBehavior: z.strictObject({
    shouldCallTool: z.boolean().optional(),
    notes: z.string().optional(),
    expectedTool: z.string().optional(),
  }).optional(),
});
export type WrittenPrompt = z.infer<typeof WrittenPrompt>;

/** What a job is to work on: a server, some of its tools by their own names, or everything. */
export interface NewJob {
  server?: string;
  tools?: string[];
  all?: boolean;
  options: Partial<JobOptions>;
}

export type JobAction = "pause" | "resume" | "cancel";

const BASE = "/api/optimization";
/** A model writes, perhaps twice. */
const WRITING_MS = 600_000;
const OneDetail = z.object({ tool: ToolDetail });
const RecordedRun = z.object({
  run: z.object({ runId: z.string(), correct: z.boolean(), isError: z.boolean() }),
});
const OneEstimate = z.object({ estimate: Estimate });

/** The optimization of a running gateway. */
export class OptimizationClient {
  readonly #ask: AskGateway;

  constructor(ask: AskGateway) {
    this.#ask = ask;
  }

  overview() {
    return this.#ask(Overview, "GET", BASE);
  }

  async setEnabled(enabled: boolean) {
    return (await this.#ask(Enabled, "PUT", `${BASE}/enabled`, { enabled })).enabled;
  }

  async report(server?: string) {
    const query = new URLSearchParams(server === undefined ? {} : { server });
    return (await this.#ask(Reports, "GET", `${BASE}/report?${query}`)).reports;
  }

  async detail(tool: ToolRef) {
    return (await this.#ask(OneDetail, "GET", toolPath(tool))).tool;
  }

  /** The runs of one description of a tool, `canonical` or a candidate's; none where there are none. */
  async runs(tool: ToolRef, candidateId: string): Promise<PromptRun[]> {
    const query = new URLSearchParams({ candidateId });
    try {
      const { candidates } = await this.#ask(Results, "GET", `${toolPath(tool)}/results?${query}`);
      return candidates.flatMap(({ runs }) => runs);
    } catch (error) {
      if (error instanceof GatewayError && error.code === "NOT_FOUND") return [];
      throw error;
    }
  }

  async propose(tool: ToolRef, proposal: { description: string; example?: string }) {
    const path = `${toolPath(tool)}/candidates`;
    return (await this.#ask(OneCandidate, "POST", path, proposal)).candidate;
  }

  generateCandidates(tool: ToolRef, count: number) {
    const path = `${toolPath(tool)}/candidates/generate`;
    return this.#ask(GeneratedCandidates, "POST", path, { count }, WRITING_MS);
  }

  savePrompts(tool: ToolRef, prompts: readonly WrittenPrompt[]) {
    return this.#ask(SavedPrompts, "POST", `${toolPath(tool)}/prompts`, { prompts });
  }

  generatePrompts(tool: ToolRef, perCategory: number) {
    const counts = {
      directCount: perCategory,
      indirectCount: perCategory,
      negativeCount: perCategory,
    };
    const path = `${toolPath(tool)}/prompts/generate`;
    return this.#ask(SavedPrompts, "POST", path, counts, WRITING_MS);
  }

  async record(
    tool: ToolRef,
    report: {
      candidateId: string;
      promptId: string;
      result: { toolCalled: boolean; reasoning?: string; error?: string };
    },
  ) {
    return (await this.#ask(RecordedRun, "POST", `${toolPath(tool)}/runs`, report)).run;
  }

  async promote(tool: ToolRef, wanted: { candidateId: string; reason?: string }) {
    const path = `${toolPath(tool)}/promote`;
    return (await this.#ask(OnePromotion, "POST", path, wanted)).promotion;
  }

  /** Answers what is in force after it; null for the server's own description. */
  async revert(tool: ToolRef, wanted: { to?: string; reason?: string }) {
    const path = `${toolPath(tool)}/revert`;
    return (await this.#ask(MaybePromotion, "POST", path, wanted)).promotion;
  }

  async keep(tool: ToolRef) {
    return (await this.#ask(OnePromotion, "POST", `${toolPath(tool)}/keep`)).promotion;
  }

  async estimate(job: NewJob) {
    return (await this.#ask(OneEstimate, "POST", `${BASE}/estimate`, job)).estimate;
  }

  async start(job: NewJob) {
    return (await this.#ask(OneJob, "POST", `${BASE}/jobs`, job)).job;
  }

  async jobs(limit: number) {
    return (await this.#ask(AllJobs, "GET", `${BASE}/jobs?limit=${limit}`)).jobs;
  }

  async job(id: string) {
    return (await this.#ask(OneJob, "GET", jobPath(id))).job;
  }

  async change(id: string, action: JobAction) {
    return (await this.#ask(OneJob, "POST", `${jobPath(id)}/${action}`)).job;
  }
}

function toolPath({ server, tool }: ToolRef): string {
  return `${BASE}/tools/${encodeURIComponent(server)}/${encodeURIComponent(tool)}`;
}

function jobPath(id: string): string {
  return `${BASE}/jobs/${encodeURIComponent(id)}`;
}
