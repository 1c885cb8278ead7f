import type { EvalRun, GoldenPrompt, ToolCandidate } from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import { type ToolText } from "../../core/tool_text.ts";
import { shortened } from "../../core/text.ts";
import type { Lesson } from "../evaluation/state.ts";
import { type FailedPrompt, generateCandidates, newCandidate } from "../generation/candidates.ts";
import type { Target } from "../targets.ts";
import { nothingToTest, type Preparation, writeForJob } from "./prepare.ts";
import { toolAt } from "./record.ts";
import type { JobContext } from "./run.ts";

const MOST_FAILURES = 12;
const MOST_OTHERS = 2;
const MOST_SAID = 240;

/**
 * Has candidates written from what a description got wrong, on prompts that writers may see. They
 * become part of the tool's plan. CANNOT_GENERATE if there is nothing to test then.
 */
export async function writeRound(
  context: JobContext,
  index: number,
  { target, test, lesson }: { target: Target; test: Preparation; lesson: Lesson },
): Promise<ToolCandidate[]> {
  const { options, record, signal } = context;
  const { server, name } = target;
  const { parent, round, failures } = lesson;
  await record.stepTool(index, { phase: "generating", round });
  signal.throwIfAborted();
  const saved = await options.candidates.list(server, name);
  const textOf = (id: string): ToolText =>
    saved.find((candidate) => candidate.id === id) ?? { description: target.description };
  const { parameters: withParameters } = record.job.options;
  const learned = withParameters ? [...failures, ...lesson.wrongArguments] : failures;
  const written: ToolCandidate[] = [];
  const warnings = await writeForJob(context, "Cannot generate candidates", async (model) => {
    const answer = await generateCandidates({
      model,
      target,
      count: lesson.count,
      existing: saved,
      withParameters,
      prompts: test.prompts.filter(({ toolName }) => toolName === name),
      parent: {
        ...textOf(parent),
        failures: learned.slice(0, MOST_FAILURES)
          .map((failure) => failedPrompt(failure, withParameters)),
        others: lesson.others.slice(0, MOST_OTHERS).map(({ description, rightFor }) => ({
          description: textOf(description).description,
          rightFor: rightFor.filter((number) => number <= MOST_FAILURES),
        })),
      },
      screen: (text) => options.promotions.problemOf(server, text),
      signal,
    });
    for (const { why, ...text } of answer.descriptions) {
      const lineage = { parent, round, failures: learned.length, ...defined({ why }) };
      const own = { server, toolName: name, origin: "generated", lineage } as const;
      const candidate = newCandidate({ ...own, ...text });
      await options.candidates.save(candidate);
      written.push(candidate);
    }
    return answer;
  });
  const { plan } = toolAt(record.job, index);
  const all = [...plan?.candidateIds ?? [], ...written.map(({ id }) => id)];
  if (all.length === 0) {
    throw nothingToTest(target, ["candidates"], [...test.warnings, ...warnings]);
  }
  test.warnings.push(...warnings);
  await record.stepTool(index, {
    phase: "evaluating",
    candidates: all.length,
    ...(plan && {
      plan: {
        ...plan,
        candidateIds: all,
        writing: {
          first: plan.writing?.first ?? 0,
          parents: [...plan.writing?.parents ?? [], parent],
        },
        warnings: test.warnings,
      },
    }),
  });
  signal.throwIfAborted();
  return written;
}

function failedPrompt(
  { prompt: { prompt, expectedBehavior, toolName }, run }: { prompt: GoldenPrompt; run: EvalRun },
  withArguments: boolean,
): FailedPrompt {
  const { shouldCallTool, expectedTool = "any other tool, or none" } = expectedBehavior;
  const { expectedArguments } = expectedBehavior;
  const own = run.calls.find(({ tool }) => tool === toolName);
  const wrong = run.result.arguments === "unexpected"
    ? `expected ${shortened(JSON.stringify(expectedArguments) ?? "other arguments", MOST_SAID)}`
    : "they do not fit the schema";
  const isShown = withArguments && own && (run.result.arguments ?? "valid") !== "valid";
  const said = shortened(run.result.reasoning?.trim() ?? "", MOST_SAID);
  return {
    says: shortened(prompt, 200),
    shouldCall: shouldCallTool ? toolName : expectedTool,
    called: run.calls.map(({ tool, name }) => tool ?? name),
    ...(said === "" ? {} : { said }),
    ...(isShown
      ? { arguments: shortened(JSON.stringify(own.arguments) ?? "", MOST_SAID), wrong }
      : {}),
  };
}
