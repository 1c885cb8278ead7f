import { z } from "zod";
import type { RunCost } from "../../core/optimization.ts";
import { shortened } from "../../core/shortened.ts";

/** What the CLI puts before the names of tools of the server `tools`. */
const PREFIX = "mcp__tools__";
/** The CLI's own words, where it answers without a model. */
const OWN_WORDS = "<synthetic>";
const MAX_REASONING = 4_000;

const Init = z.looseObject({
  type: z.literal("system"),
  subtype: z.literal("init"),
  tools: z.array(z.string()),
  mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })),
});

/** The API refused or failed, and the CLI asks again. */
const Retry = z.looseObject({
  type: z.literal("system"),
  subtype: z.literal("api_retry"),
  error_status: z.number().nullish(),
  error: z.string().optional(),
});

const Assistant = z.looseObject({
  type: z.literal("assistant"),
  parent_tool_use_id: z.string().nullish(),
  message: z.looseObject({
    id: z.string(),
    model: z.string().optional(),
    content: z.array(z.looseObject({ type: z.string() })),
  }),
});

const Result = z.looseObject({
  type: z.literal("result"),
  subtype: z.string(),
  is_error: z.boolean(),
  result: z.string().optional(),
  stop_reason: z.string().nullish(),
  api_error_status: z.number().nullish(),
  total_cost_usd: z.number().optional(),
  usage: z.looseObject({
    input_tokens: z.number().default(0),
    cache_creation_input_tokens: z.number().default(0),
    cache_read_input_tokens: z.number().default(0),
    output_tokens: z.number().default(0),
  }).optional(),
});

const Event = z.union([Init, Retry, Assistant, Result]);

const ToolUse = z.looseObject({
  type: z.literal("tool_use"),
  name: z.string(),
  input: z.unknown().optional(),
});
const Text = z.looseObject({ type: z.literal("text"), text: z.string() });

interface Message {
  id: string;
  calls: { name: string; arguments: unknown }[];
  texts: string[];
}

/** What `claude -p --output-format stream-json` has said so far, read line by line. */
export class ClaudeTranscript {
  init: z.infer<typeof Init> | undefined;
  result: z.infer<typeof Result> | undefined;
  retry: z.infer<typeof Retry> | undefined;
  /** The one that answered, by the name it gives itself. */
  model: string | undefined;
  /** What the CLI said in a model's place. */
  ownWords: string | undefined;
  readonly #messages: Message[] = [];

  /** Lines of other kinds, and such as are none of JSON, say nothing about a run. */
  read(line: string): void {
    const { data } = Event.safeParse(parsed(line));
    if (data?.type === "assistant") this.#addMessage(data);
    else if (data?.type === "result") this.result ??= data;
    else if (data?.subtype === "init") this.init ??= data;
    else if (data?.subtype === "api_retry") this.retry = data;
  }

  /**
   * Every call of the first message that has any, by flat name. Calls after that one answer the
   * CLI's refusal to run a tool, which asks to try others: they say nothing about descriptions.
   */
  get calls(): { name: string; arguments: unknown }[] {
    return this.#chosen?.calls ?? [];
  }

  get reasoning(): string {
    const chosen = this.#chosen;
    const end = chosen === undefined ? undefined : this.#messages.indexOf(chosen) + 1;
    const texts = this.#messages.slice(0, end).flatMap((message) => message.texts);
    return shortened(texts.join("\n"), MAX_REASONING);
  }

  /** Known at the end only. */
  get cost(): RunCost {
    const { usage, total_cost_usd: costUsd } = this.result ?? {};
    const inputTokens = (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0) +
      (usage?.cache_read_input_tokens ?? 0);
    const outputTokens = usage?.output_tokens ?? 0;
    // A model whose price the CLI does not know costs nothing by its count.
    const isUnpriced = costUsd === 0 && inputTokens + outputTokens > 0;
    return {
      inputTokens,
      outputTokens,
      ...costUsd === undefined || isUnpriced ? {} : { costUsd },
    };
  }

  get serverStatus(): string | undefined {
    return this.init?.mcp_servers.find(({ name }) => name === "tools")?.status;
  }

  isListed(tool: string): boolean {
    return this.init?.tools.includes(PREFIX + tool) ?? false;
  }

  get #chosen(): Message | undefined {
    return this.#messages.find(({ calls }) => calls.length > 0);
  }

  #addMessage({ parent_tool_use_id, message }: z.infer<typeof Assistant>): void {
    if (typeof parent_tool_use_id === "string") return;
    const texts = message.content.flatMap((block) => Text.safeParse(block).data?.text ?? []);
    if (message.model === OWN_WORDS) {
      this.ownWords = texts.join("\n");
      return;
    }
    this.model ??= message.model;
    // One event a block: those of one message have its id in common.
    let known = this.#messages.find(({ id }) => id === message.id);
    if (known === undefined) this.#messages.push(known = { id: message.id, calls: [], texts: [] });
    known.texts.push(...texts);
    for (const block of message.content) {
      const use = ToolUse.safeParse(block);
      if (!use.success) continue;
      const { name, input } = use.data;
      known.calls.push({ name: flatName(name), arguments: input ?? {} });
    }
  }

  get hasModelAnswered(): boolean {
    return this.#messages.length > 0;
  }
}

function flatName(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
