import * as z from "zod";
import data from "./model_families.json" with { type: "json" };

const names = Object.keys(data) as (keyof typeof data)[];

/** Models of one maker that read descriptions alike. */
export const ModelFamily = z.enum(names);
export type ModelFamily = z.infer<typeof ModelFamily>;

/** Of `us.anthropic.claude-opus-4`, `openai/gpt-5` or `sonnet`, by the start of a part of the name. */
export function familyOfModel(model: string): ModelFamily | undefined {
  const parts = model.split(/[/.:](?=[a-z])/i);
  return names.find((family) =>
    data[family].models.some((prefix) => parts.some((part) => startsWith(part, prefix)))
  );
}

/**
 * What a client's model probably is, by the name that the client gives itself. Clients that offer
 * models of several makers have none; `own` says for such a client, by the start of its name.
 */
export function familyOfClient(
  clientName: string,
  own: Readonly<Record<string, ModelFamily>> = {},
): ModelFamily | undefined {
  const name = clientName.trim();
  const [chosen] = Object.keys(own).filter((prefix) => startsWith(name, prefix))
    .sort((one, other) => other.length - one.length);
  if (chosen !== undefined) return own[chosen];
  return names.find((family) => data[family].clients.some((prefix) => startsWith(name, prefix)));
}

/** "gpt-5" starts with "gpt"; "gpt4all" does not. */
function startsWith(text: string, prefix: string): boolean {
  return text.toLowerCase().startsWith(prefix.toLowerCase()) &&
    !/^[a-z0-9]/i.test(text.slice(prefix.length));
}
