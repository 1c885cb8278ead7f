import { memberSpans, replaceSpan } from "../core/json_spans.ts";

/** The lists of a server whose texts a model reads, by method, as their results name them. */
export const LISTS: Partial<Record<string, "prompts" | "resources" | "resourceTemplates">> = {
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
};
export type ListKind = NonNullable<(typeof LISTS)[string]>;

/** Keeps back what no model should read of what a server says beside its tools. */
export interface TextsScreen {
  /** Undefined where they may not be passed on. */
  instructions(server: string, text: string | undefined): Promise<string | undefined>;
  /** A list's result without the entries that may not be passed on. */
  list(server: string, kind: ListKind, result: string): Promise<string>;
}

/** The answer to a list request, its result screened, all else as it came. */
export async function screened(
  screen: TextsScreen | undefined,
  server: string,
  kind: ListKind,
  answer: string,
): Promise<string> {
  const span = screen && memberSpans(answer).get("result");
  if (!span) return answer;
  const result = answer.slice(span.start, span.end);
  const shown = await screen.list(server, kind, result);
  return shown === result ? answer : replaceSpan(answer, span, shown);
}
