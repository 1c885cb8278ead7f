import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { defined } from "../../core/defined.ts";
import { GatewayError } from "../../core/errors.ts";
import { Evaluation, GoldenPrompt, textHash, ToolCandidate } from "../../core/optimization.ts";
import { ServerName } from "../../core/server.ts";
import { unknownParameters } from "../../core/tool_text.ts";
import { counted } from "../../core/text.ts";
import { manipulationInText } from "../../optimizer/generation/description_rules.ts";
import { firstWritten } from "../../optimizer/evaluation/selection.ts";
import { type LocatedTool, type OptimizationAdminOptions } from "./subjects.ts";

const FORMAT = "quartermaster-optimization";

const KeptPrompt = GoldenPrompt.omit({ server: true, toolName: true, retired: true });
const KeptCandidate = ToolCandidate.omit({ server: true, toolName: true, charCount: true });
const KeptEvaluation = Evaluation.omit({ server: true, toolName: true, imported: true });

/** Prompts, candidates and results of tools, as a file that can be kept in git. */
export const OptimizationFile = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(1),
  tools: z.array(z.strictObject({
    server: ServerName,
    tool: z.string().min(1),
    prompts: z.array(KeptPrompt).default([]),
    candidates: z.array(KeptCandidate).default([]),
    evaluations: z.array(KeptEvaluation).default([]),
  })),
});
export type OptimizationFile = z.infer<typeof OptimizationFile>;
type FileTool = OptimizationFile["tools"][number];

const Kept = z.object({ saved: z.int(), unchanged: z.int() });
export const ImportedOptimization = z.object({
  tools: z.int(),
  prompts: Kept.extend({ retired: z.int() }),
  candidates: Kept,
  evaluations: Kept,
  dryRun: z.boolean(),
  warnings: z.array(z.string()),
});
export type ImportedOptimization = z.infer<typeof ImportedOptimization>;

/** The same records always give the same bytes: sorted by name and id. */
export async function exportOptimization(
  options: OptimizationAdminOptions,
  isWanted: (tool: LocatedTool) => boolean,
): Promise<string> {
  const { prompts, candidates, evaluations } = options;
  const [asked, proposed, ended] = await Promise.all([
    prompts.byServer(),
    candidates.byServer(),
    evaluations.byServer(),
  ]);
  const named = [asked, proposed, ended].flatMap((kind) =>
    [...kind.values()].flat().map(({ server, toolName }) => ({ server, tool: toolName }))
  );
  const tools = [...new Map(named.map((tool) => [`${tool.server}.${tool.tool}`, tool]))]
    .filter(([, tool]) => isWanted(tool)).sort(([one], [other]) => one < other ? -1 : 1);
  const file: OptimizationFile = { format: FORMAT, version: 1, tools: [] };
  for (const [, { server, tool }] of tools) {
    const writtenAt = firstWritten(await prompts.all(server, tool));
    const own = <T extends { toolName: string; id: string }>(kind: Map<string, T[]>) =>
      (kind.get(server) ?? []).filter(({ toolName }) => toolName === tool)
        .sort((one, other) => one.id < other.id ? -1 : 1);
    file.tools.push({
      server,
      tool,
      prompts: own(asked).map(({ server: _, toolName: __, retired: ___, ...prompt }) =>
        KeptPrompt.parse({
          ...prompt,
          // Of its first version: an edit makes no prompt unseen.
          createdAt: new Date(writtenAt.get(prompt.id) ?? prompt.createdAt).toISOString(),
        })
      ),
      candidates: own(proposed).map(({ server: _, toolName: __, charCount: ___, ...candidate }) =>
        KeptCandidate.parse(candidate)
      ),
      evaluations: own(ended).map(({ server: _, toolName: __, imported: ___, ...evaluation }) =>
        KeptEvaluation.parse(evaluation)
      ),
    });
  }
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

export function parseOptimizationFile(text: string): OptimizationFile {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw notImported(`it is not valid JSON (${error instanceof Error ? error.message : error})`);
  }
  const parsed = OptimizationFile.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw notImported(`${issue?.path.join(".") || "the file"}: ${issue?.message}`);
}

/**
 * Checks all of it before any is saved. What is there with the same content stays, so an import that
 * the store could not finish is completed by the next one.
 */
export async function importOptimization(
  options: OptimizationAdminOptions,
  file: OptimizationFile,
  { mode, dryRun }: { mode: "merge" | "replace"; dryRun: boolean },
): Promise<ImportedOptimization> {
  const warnings: string[] = [];
  const plans: Awaited<ReturnType<typeof planOf>>[] = [];
  for (const tool of file.tools) {
    const siblings = namesOf(options, tool.server);
    if (siblings !== undefined && !siblings.includes(tool.tool)) {
      warnings.push(`${tool.server} has no tool "${tool.tool}" now; its records are kept`);
    }
    const own = options.subjects.find(tool.server, tool.tool)?.parameters;
    for (const candidate of own ? tool.candidates : []) {
      const [unknown] = unknownParameters(candidate, own!);
      if (unknown === undefined) continue;
      warnings.push(
        `${tool.server}.${tool.tool} has no parameter "${unknown}" now; candidate ` +
          `"${candidate.id}" cannot be tested`,
      );
    }
    plans.push(await planOf(options, tool, { mode, siblings: siblings ?? [] }));
  }
  refuseRepeated(plans);
  const sum = (of: (plan: typeof plans[number]) => number) =>
    plans.reduce((all, plan) => all + of(plan), 0);
  if (!dryRun) {
    await options.evaluations.saveWith({
      prompts: plans.flatMap(({ prompts, retired }) => [...prompts, ...retired]),
      candidates: plans.flatMap(({ candidates }) => candidates),
      evaluations: plans.flatMap(({ evaluations }) => evaluations),
    });
    options.onChange?.();
  }
  const kept = (kind: "prompts" | "candidates" | "evaluations") => {
    const saved = sum((plan) => plan[kind].length);
    return { saved, unchanged: sum(({ tool }) => tool[kind].length) - saved };
  };
  return {
    tools: file.tools.length,
    prompts: { ...kept("prompts"), retired: sum(({ retired }) => retired.length) },
    candidates: kept("candidates"),
    evaluations: kept("evaluations"),
    dryRun,
    warnings,
  };
}

async function planOf(
  options: OptimizationAdminOptions,
  tool: FileTool,
  { mode, siblings }: { mode: "merge" | "replace"; siblings: readonly string[] },
) {
  const { server, tool: toolName } = tool;
  const name = `${server}.${toolName}`;
  const current = await options.prompts.list(server, toolName);
  const prompts: GoldenPrompt[] = [];
  for (const prompt of tool.prompts) {
    const newest = await options.prompts.find(server, prompt.id);
    if (newest && newest.toolName !== toolName) {
      throw notImported(`prompt "${prompt.id}" of ${name} is one of ${newest.toolName} here`);
    }
    if (newest && isSamePrompt(newest, prompt)) continue;
    const version = Math.max(prompt.version, newest === undefined ? 1 : newest.version + 1);
    prompts.push({ ...prompt, server, toolName, retired: false, version });
  }
  const listed = new Set(tool.prompts.map(({ id }) => id));
  const now = new Date().toISOString();
  const retired = mode === "merge" ? [] : current.filter(({ id }) => !listed.has(id))
    .map((old) => ({ ...old, version: old.version + 1, createdAt: now, retired: true }));
  const candidates: ToolCandidate[] = [];
  for (const candidate of tool.candidates) {
    const { id, description } = candidate;
    const known = await options.candidates.find(server, id);
    if (known && (known.toolName !== toolName || textHash(known) !== textHash(candidate))) {
      throw notImported(`candidate "${id}" of ${name} has another text here`);
    }
    if (known) continue;
    const others = siblings.filter((sibling) => sibling !== toolName);
    const problem = await options.promotions.problemOf(server, candidate) ??
      manipulationInText(candidate, others);
    if (problem !== undefined) throw notImported(`candidate "${id}" of ${name}: ${problem}`);
    candidates.push({ ...candidate, server, toolName, charCount: description.length });
  }
  const evaluations: Evaluation[] = [];
  for (const evaluation of tool.evaluations) {
    if (await options.evaluations.find(server, toolName, evaluation.id)) continue;
    evaluations.push({ ...evaluation, server, toolName, imported: true });
  }
  return { tool, prompts, retired, candidates, evaluations };
}

/** One would be saved in the place of the other. */
function refuseRepeated(plans: readonly Awaited<ReturnType<typeof planOf>>[]): void {
  const seen = new Set<string>();
  for (const { tool: { server, tool, ...records } } of plans) {
    for (const kind of ["prompts", "candidates", "evaluations"] as const) {
      for (const { id } of records[kind]) {
        const key = JSON.stringify([kind, server, id]);
        if (seen.has(key)) {
          throw notImported(`${kind.slice(0, -1)} "${id}" of ${server}.${tool} is there twice`);
        }
        seen.add(key);
      }
    }
  }
}

/** Whatever differs is an edit, but for when it was written. */
function isSamePrompt({ retired, ...known }: GoldenPrompt, prompt: FilePrompt): boolean {
  const content = ({ category, prompt, expectedBehavior, ...more }: FilePrompt) => ({
    ...{ category, prompt, heldOut: more.heldOut, isConfirmed: more.isConfirmed },
    expectedBehavior: defined(expectedBehavior),
  });
  return !retired && isDeepStrictEqual(content(known), content(prompt));
}

type FilePrompt = FileTool["prompts"][number];

/** Undefined if the server is not connected, so that its tools are not known. */
function namesOf(options: OptimizationAdminOptions, server: string): string[] | undefined {
  const names = options.subjects.tools(server).map(({ tool }) => tool);
  return names.length === 0 ? undefined : names;
}

export function importedText(
  { tools, prompts, candidates, evaluations, dryRun }: ImportedOptimization,
): string {
  const parts = [
    ...(prompts.saved > 0 ? [counted(prompts.saved, "prompt")] : []),
    ...(candidates.saved > 0 ? [counted(candidates.saved, "candidate")] : []),
    ...(evaluations.saved > 0 ? [counted(evaluations.saved, "evaluation")] : []),
  ];
  const retired = prompts.retired === 0
    ? ""
    : ` ${dryRun ? "Would retire" : "Retired"} ${counted(prompts.retired, "prompt")}.`;
  if (parts.length === 0) {
    return `Nothing new in ${counted(tools, "tool")}.${retired}`;
  }
  return `${dryRun ? "Would save" : "Saved"} ${parts.join(", ")} for ${
    counted(tools, "tool")
  }.${retired}`;
}

function notImported(why: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot import this file: ${why}`,
    recoverySteps: ["Nothing was saved: correct the file, then import it again"],
  });
}
