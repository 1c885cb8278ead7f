import {
  descriptionHash,
  type EvaluatorKind,
  modelRef,
  type PromotedTool,
} from "../core/optimization.ts";
import {
  type OwnParameterTexts,
  type ParameterChange,
  parameterChanges,
} from "../core/tool_text.ts";

/** What a promotion rests on, as it is now. */
export interface StalenessSources {
  /** What the server says of the tool's parameters. */
  parameters?(server: string, tool: string): OwnParameterTexts;
  /** The nearest siblings of a tool, with hashes of their own descriptions. */
  siblings?(server: string, tool: string): Record<string, string>;
  /** Whether a tool exists and is enabled. */
  hasTool?(server: string, tool: string): boolean;
  /** The model that would be asked now, if one is set. */
  model?(evaluator: EvaluatorKind): string | undefined;
  /** Those that jobs ask, where several are set. */
  models?: readonly string[] | undefined;
}

export interface Staleness {
  /** In words, each the rest of "since it was promoted, ...". */
  reasons: string[];
  before: string | null;
  now: string | null;
  /** What changed of the server's own texts of the parameters that are replaced. */
  parameters?: ParameterChange[];
}

/** Why a promotion is stale, unless somebody kept it, with what the server said then and says now. */
export function stalenessOf(
  promotion: PromotedTool,
  /** The server's own description. */
  now: string | null,
  sources: StalenessSources,
): Staleness | undefined {
  const { server, toolName, canonicalDescription: before, canonicalParameters } = promotion;
  const parameters = promotion.parameters === undefined
    ? []
    : parameterChanges(promotion, canonicalParameters, sources.parameters?.(server, toolName));
  const reasons = [
    ...(isChanged(promotion, now) ? ["the server's own description has changed"] : []),
    ...parameters.map(({ path, now }) =>
      now === undefined
        ? `the parameter ${path} is gone`
        : `the server's own description of the parameter ${path} has changed`
    ),
    ...siblingReasons(promotion, sources),
    ...modelReasons(promotion, sources),
  ];
  if (reasons.length === 0) return undefined;
  return { reasons, before, now, ...(parameters.length > 0 ? { parameters } : {}) };
}

function isChanged(promotion: PromotedTool, now: string | null): boolean {
  const hash = ownHash(now);
  return hash !== ownHash(promotion.canonicalDescription) && hash !== promotion.keptOver;
}

/** An empty description says as little as none. */
export function ownHash(description: string | null): string {
  return descriptionHash(description ?? "");
}

function siblingReasons(
  { server, toolName, siblings }: PromotedTool,
  { siblings: siblingsOf, hasTool }: StalenessSources,
): string[] {
  const now = siblings ? siblingsOf?.(server, toolName) ?? siblings : {};
  const changes = Object.entries(siblings ?? {}).flatMap(([name, hash]) =>
    hasTool?.(server, name) === false
      ? [`the sibling ${name} is gone`]
      : now[name] !== undefined && now[name] !== hash
      ? [`the description of the sibling ${name} has changed`]
      : []
  );
  const added = Object.keys(now).filter((name) => siblings?.[name] === undefined);
  // One that is near only because another is gone was there before.
  return changes.length > 0
    ? changes
    : added.map((name) => `there is a similar new sibling, ${name}`);
}

function modelReasons(
  { testedWith, testedModels }: PromotedTool,
  { model: modelOf, models: wanted }: StalenessSources,
): string[] {
  if (testedWith === undefined) return [];
  const tested = testedModels ??
    [modelRef({ kind: testedWith.evaluator, model: testedWith.model })];
  if (wanted !== undefined) {
    const others = wanted.filter((ref) => !tested.includes(ref));
    return others.length === 0
      ? []
      : [`it was tested with ${tested.join(" and ")}, and ${others.join(" and ")} is set now`];
  }
  // Models that a job named stand beside the one that is set.
  if (testedModels !== undefined) return [];
  const model = modelOf?.(testedWith.evaluator);
  return model === undefined || model === testedWith.model
    ? []
    : [`it was tested with the model ${testedWith.model}, and ${model} is set now`];
}
