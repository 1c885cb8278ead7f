import { createHash } from "node:crypto";
import * as z from "zod";

/** The longest description that a candidate may have, in characters as JavaScript counts them. */
export const MAX_DESCRIPTION = 280;
/** The longest text for a parameter. */
export const MAX_PARAMETER_TEXT = 280;
/** For how many parameters a candidate may have a text. */
export const MAX_PARAMETER_TEXTS = 50;

/** Texts for parameters in the place of the server's own, by path: `filter.since`, `tags[]`. */
export const ParameterTexts = z.record(z.string(), z.string().min(1).max(MAX_PARAMETER_TEXT))
  .refine((texts) => Object.keys(texts).length <= MAX_PARAMETER_TEXTS, {
    error: `descriptions of at most ${MAX_PARAMETER_TEXTS} parameters are allowed`,
  });
export type ParameterTexts = z.infer<typeof ParameterTexts>;

/** What a server itself says of its tool's parameters, by path; null: nothing. */
export const OwnParameterTexts = z.record(z.string(), z.string().nullable());
export type OwnParameterTexts = z.infer<typeof OwnParameterTexts>;

/** What models read of a tool in the place of what its server says. */
export interface ToolText {
  description: string;
  parameters?: ParameterTexts | undefined;
}

/** The fields of a record that is about a text. */
export const TEXT_FIELDS = {
  description: z.string().min(1).max(MAX_DESCRIPTION),
  parameters: ParameterTexts.optional(),
};

/** Identifies a text; the order of the parameters does not matter. */
export function textHash({ description, parameters = {} }: ToolText): string {
  const texts = Object.entries(parameters).sort(([one], [other]) => one < other ? -1 : 1);
  const hash = createHash("sha256").update(description);
  if (texts.length > 0) hash.update(`\0${JSON.stringify(texts)}`);
  return hash.digest("hex").slice(0, 16);
}

export function descriptionHash(description: string): string {
  return textHash({ description });
}

/** The part of a text that a record keeps. */
export function textOf(
  { description, parameters }: ToolText,
): { description: string; parameters?: ParameterTexts } {
  return parameters && Object.keys(parameters).length > 0
    ? { description, parameters }
    : { description };
}

/** One line per parameter, such as "filter.since: The first day". */
export function parameterLines(parameters: ParameterTexts = {}): string[] {
  return Object.entries(parameters).map(([path, text]) => `${path}: ${text}`);
}

/** A parameter whose text is another one than before; undefined: there is no such parameter. */
export interface ParameterChange {
  path: string;
  before?: string | null | undefined;
  now?: string | null | undefined;
}

/** What differs between a server's own texts then and now, for the parameters of a text. */
export function parameterChanges(
  { parameters = {} }: Pick<ToolText, "parameters">,
  before: OwnParameterTexts = {},
  now: OwnParameterTexts = {},
): ParameterChange[] {
  // A parameter may be called "constructor".
  const at = (texts: OwnParameterTexts, path: string) =>
    Object.hasOwn(texts, path) ? texts[path] : undefined;
  return Object.keys(parameters)
    .map((path) => ({ path, before: at(before, path), now: at(now, path) }))
    .filter((change) => change.before !== change.now);
}

/** Those of a server's own texts that a text replaces. */
export function replacedBy(
  texts: readonly Pick<ToolText, "parameters">[],
  own: OwnParameterTexts,
): OwnParameterTexts {
  const paths = new Set(texts.flatMap(({ parameters = {} }) => Object.keys(parameters)));
  return Object.fromEntries(Object.entries(own).filter(([path]) => paths.has(path)));
}

/** The paths of a text that a tool does not have. */
export function unknownParameters(
  { parameters = {} }: Pick<ToolText, "parameters">,
  own: OwnParameterTexts,
): string[] {
  return Object.keys(parameters).filter((path) => !Object.hasOwn(own, path));
}
