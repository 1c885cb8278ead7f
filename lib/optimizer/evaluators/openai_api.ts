import * as z from "zod";
import { parseJson } from "../../core/rpc.ts";
import type { ApiDialect } from "./messages_api.ts";

export const OPENAI_URL = "https://api.openai.com/v1";

const Completion = z.looseObject({
  model: z.string().optional(),
  choices: z.array(z.looseObject({
    finish_reason: z.string().nullish(),
    message: z.looseObject({
      content: z.string().nullish(),
      refusal: z.string().nullish(),
      tool_calls: z.array(z.looseObject({
        function: z.looseObject({ name: z.string(), arguments: z.string().nullish() }),
      })).nullish(),
    }),
  })).min(1),
  usage: z.looseObject({
    prompt_tokens: z.number().default(0),
    completion_tokens: z.number().default(0),
  }).nullish(),
});

/** Its reasons to stop, in the words of the Messages API. */
const STOPS: Record<string, string> = { length: "max_tokens", content_filter: "refusal" };

/** Chat completions with tools, as OpenAI has them and most others offer them too. */
export const CHAT_COMPLETIONS: ApiDialect = {
  kind: "openai-api",
  path: "/chat/completions",
  names: /^[a-zA-Z0-9_-]{1,64}$/,
  host: "openai.com",
  variables: { url: "OPENAI_BASE_URL", key: "OPENAI_API_KEY" },
  headers: ({ apiKey }) => apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  choice: { tool_choice: "auto" },
  tool: ({ name, description, inputSchema }) => ({
    type: "function",
    function: {
      name,
      ...description === undefined ? {} : { description },
      parameters: inputSchema,
    },
  }),
  // Without a limit of tokens: its name differs between models, and a wrong one is refused.
  body: ({ system, prompt }) => ({
    messages: [
      ...system === undefined ? [] : [{ role: "system", content: system }],
      { role: "user", content: prompt },
    ],
  }),
  read(answer) {
    const { data } = Completion.safeParse(answer);
    const choice = data?.choices[0];
    if (data === undefined || choice === undefined) return undefined;
    const { content, refusal, tool_calls } = choice.message;
    const stop = choice.finish_reason ?? "";
    return {
      text: refusal ?? content ?? "",
      calls: (tool_calls ?? []).map(({ function: { name, arguments: given } }) => ({
        name,
        // What is not JSON is shown as it came: the choice of the tool is still known.
        arguments: parseJson(given || "{}") ?? given,
      })),
      stopReason: refusal ? "refusal" : STOPS[stop] ?? stop,
      model: data.model,
      cost: {
        inputTokens: data.usage?.prompt_tokens ?? 0,
        outputTokens: data.usage?.completion_tokens ?? 0,
      },
    };
  },
};
