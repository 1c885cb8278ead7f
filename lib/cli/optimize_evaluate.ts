import { GatewayError } from "../core/errors.ts";
import { JSON_FLAG } from "./command.ts";
import type { ToolDetail } from "./optimization_answers.ts";
import { fullName, namedCandidate, openOptimization, optimizeCommand } from "./optimize_command.ts";
import {
  BUDGET_FLAGS,
  DEPTH_FLAG,
  DETACH_FLAG,
  jobOptionsOf,
  REPEATS_FLAG,
  TOOLSET_FLAG,
  YES_FLAG,
} from "./optimize_flags.ts";
import { startJob } from "./optimize_start.ts";
import { evaluatedText } from "./optimize_show_text.ts";
import { painter } from "./terminal.ts";

export const optimizeEvaluate = optimizeCommand({
  usage: "optimize evaluate SERVER.TOOL CANDIDATE [--depth DEPTH] [--repeats N]",
  meaning: "Try a candidate against the server's own description, on the tool's golden prompts",
  details: [
    "Nothing is promoted. No tool of yours is called: a model is shown the tools, and what it would",
    "call is answered by the gateway itself. Says what it would take and asks first, unless --yes.",
    "Ctrl-C pauses. A gateway has to run.",
  ],
  flags: [
    DEPTH_FLAG,
    REPEATS_FLAG,
    TOOLSET_FLAG,
    ...BUDGET_FLAGS,
    YES_FLAG,
    DETACH_FLAG,
    JSON_FLAG,
  ],
  async run(input) {
    const options = jobOptionsOf(input);
    const { gateway, optimization } = await openOptimization(input);
    const { candidateId, ...ref } = await namedCandidate("optimize evaluate", input, gateway);
    requireTestable(await optimization.detail(ref), candidateId);
    const request = {
      server: ref.server,
      tools: [ref.tool],
      options: { ...options, candidateIds: [candidateId], generate: false, autoPromote: false },
    };
    return await startJob("optimize evaluate", request, {
      input,
      optimization,
      async onCompleted(job) {
        const evaluation = (await optimization.detail(ref)).evaluations
          .find(({ id }) => job.tools.some((tool) => tool.evaluationId === id));
        if (!evaluation) return { json: {}, text: "" };
        const isBetter = evaluation.results.some((result) =>
          result.candidateId === candidateId && result.verdict?.promote
        );
        const words = `optimize promote ${fullName(ref)} ${candidateId}`;
        const next = isBetter ? `Promote it with \`deno task cli ${words}\`.\n` : "";
        const text = evaluatedText(evaluation, candidateId, painter(input.env)) + next;
        return { json: { evaluation }, text };
      },
    });
  },
});

/** Said before anything else: a job would begin, and find out the same. */
function requireTestable({ candidates, prompts, ...ref }: ToolDetail, candidateId: string): void {
  const attempt = `Cannot evaluate "${candidateId}" for ${fullName(ref)}`;
  if (!candidates.some(({ id }) => id === candidateId)) {
    throw new GatewayError("NOT_FOUND", {
      message: `${attempt}: it is no candidate of this tool`,
      recoverySteps: [`See its candidates with \`deno task cli optimize show ${fullName(ref)}\``],
    });
  }
  if (prompts.length > 0) return;
  throw new GatewayError("CANNOT_EVALUATE", {
    message: `${attempt}: the tool has no golden prompts`,
    recoverySteps: [
      `Save some with \`deno task cli optimize prompts ${fullName(ref)} --file FILE\``,
      `Or have them written with \`deno task cli optimize generate ${fullName(ref)} --prompts 5\``,
    ],
  });
}
