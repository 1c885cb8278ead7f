import { z } from "zod";
import { GatewayError } from "../../core/errors.ts";
import { CANONICAL, Depth, JobOptions, Thresholds } from "../../core/optimization.ts";
import { textModelFromSampling } from "../../optimizer/generation/sampling_model.ts";
import { builtin, type BuiltinTool, type ToolContext } from "../builtin_tool.ts";
import type { OptimizationAdmin } from "../optimization_admin.ts";
import { answer, counted, resultLines } from "./answers.ts";
import { estimateText } from "./job_text.ts";
import { jobAnswer } from "./job_tools.ts";
import { CandidateCount, PromptCount } from "./limits.ts";

/** What the gateway itself asks for. */
const LEAST = Thresholds.parse({});
const { promptsPerCategory, repeats } = JobOptions.shape;
const HOW = {
  depth: Depth.exactOptional(),
  repeats: repeats.unwrap().exactOptional(),
  withToolset: z.boolean().exactOptional().describe("Also show the equipped tools"),
};

const UNPROMOTED = 'Nothing will be promoted: that needs a token with the right "manage".';

/** What spends model time. */
export function spendingTools(admin: OptimizationAdmin): BuiltinTool[] {
  return [
    builtin({
      name: "generate_candidates",
      title: "Write candidates",
      description: "Have a model write candidates for a tool.",
      input: z.strictObject({
        server: z.string(),
        tool: z.string(),
        count: CandidateCount,
      }),
      async run(input, context) {
        const { candidates, warnings } = await admin.generateCandidates(
          input,
          modelOf(context),
          context.signal,
        );
        const kept = candidates.map(({ id, charCount, description, example }) => ({
          candidateId: id,
          charCount,
          description,
          ...(example === undefined ? {} : { example }),
        }));
        return answer(
          [
            `Saved ${counted(kept.length, "candidate")} for ${input.tool}:`,
            ...kept.map(({ candidateId, charCount, description }) =>
              `- ${candidateId} (${charCount} characters): ${description}`
            ),
          ],
          { candidateIds: kept.map(({ candidateId }) => candidateId), candidates: kept },
          {
            warnings,
            next: [
              "generate_golden_prompts: prompts to try them with, if there are none",
              "evaluate_candidate: evaluate each of them",
            ],
          },
        );
      },
    }),
    builtin({
      name: "generate_golden_prompts",
      title: "Write prompts",
      description: "Have a model write test prompts for a tool.",
      input: z.strictObject({
        server: z.string(),
        tool: z.string(),
        directCount: PromptCount,
        indirectCount: PromptCount,
        negativeCount: PromptCount,
      }),
      async run(input, context) {
        const { saved, prompts, warnings } = await admin.generatePrompts(
          input,
          modelOf(context),
          context.signal,
        );
        const kept = prompts.map(({ id, category, prompt }) => ({ id, category, prompt }));
        return answer(
          [
            `Saved ${counted(saved, "prompt")} for ${input.tool}:`,
            ...kept.map(({ id, category, prompt }) => `- ${id} (${category}): ${prompt}`),
          ],
          { saved, prompts: kept },
          {
            warnings,
            next: [
              "generate_candidates: descriptions to try, if there are none",
              "evaluate_candidate: evaluate each of them",
            ],
          },
        );
      },
    }),
    builtin({
      name: "evaluate_candidate",
      title: "Evaluate",
      description:
        "Put a tool's saved prompts to a model, with the candidate and the original. No tool really runs.",
      input: z.strictObject({
        server: z.string(),
        tool: z.string(),
        candidateId: z.string(),
        ...HOW,
        wait: z.number().min(0).max(300).default(45).describe("Seconds"),
      }),
      async run({ wait, server, tool: named, candidateId, ...how }, { signal }) {
        const { toolName: tool, id } = await admin.resolveCandidate({
          server,
          tool: named,
          candidateId,
        });
        const started = await admin.jobs.start({
          server,
          tools: [tool],
          options: {
            generate: false,
            autoPromote: false,
            candidateIds: [id],
            ...how,
          },
          by: "caller",
        });
        const job = await admin.jobs.wait(started.id, wait * 1_000, signal);
        if (job.status !== "completed") return jobAnswer(job);
        const results = await admin.results({ server, tool });
        const candidates = results.filter(({ candidateId, evidence }) =>
          evidence && (candidateId === id || candidateId === CANONICAL)
        );
        return jobAnswer(job, {
          before: candidates.flatMap(resultLines),
          data: { candidates },
        });
      },
    }),
    builtin({
      name: "optimize_tools",
      title: "Optimize",
      description:
        "Start a job that writes candidates and prompts, evaluates them, and promotes what is proven better.",
      input: z.strictObject({
        server: z.string().exactOptional(),
        tools: z.array(z.string()).exactOptional(),
        all: z.boolean().exactOptional().describe("All servers"),
        candidatesPerTool: CandidateCount,
        promptsPerCategory: promptsPerCategory.unwrap().exactOptional().describe(
          "Default 5; thorough 12",
        ),
        threshold: z.number().positive().max(100).default(100 * LEAST.minOverall)
          .describe("Percent"),
        ...HOW,
        autoPromote: z.boolean().exactOptional(),
        maxRuns: z.int().min(1).max(1_000_000).exactOptional(),
        maxCostUsd: z.number().positive().exactOptional(),
      }),
      async run({ server, tools, all, threshold, ...options }, { principal }) {
        const request = admin.withinRights(principal, {
          ...(server === undefined ? {} : { server }),
          ...(tools === undefined ? {} : { tools }),
          ...(all === undefined ? {} : { all }),
          options: {
            ...options,
            thresholds: { ...LEAST, minOverall: boundFraction(threshold) },
          },
          by: "caller",
        });
        const estimate = await admin.jobs.estimate(request);
        const job = await admin.jobs.start(request);
        return jobAnswer(job, {
          before: [
            `Estimate: ${estimateText(estimate)}.`,
            ...(admin.mayPromote(principal) || options.autoPromote === false ? [] : [UNPROMOTED]),
          ],
          data: { estimate },
        });
      },
    }),
  ].map((tool) => ({ ...tool, admit: () => admin.requireEnabled(`call ${tool.name}`) }));
}

/** The calling client's own model, where it lends it. */
function modelOf({ sample }: ToolContext) {
  return sample && textModelFromSampling(sample);
}

/** 85 and 0.85 mean the same. A caller may bind itself to more than the gateway asks, not to less. */
function boundFraction(threshold: number): number {
  const fraction = threshold < 1 ? threshold : threshold / 100;
  if (fraction >= LEAST.minOverall) return fraction;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot optimize with a threshold of ${
      Math.round(1_000 * fraction) / 10
    } %: a caller needs at least ${100 * LEAST.minOverall} %`,
    recoverySteps: [
      `Give ${100 * LEAST.minOverall} to 100, or leave threshold out`,
      "A person may ask for less, in the console or on the command line",
    ],
  });
}
