import * as z from "zod";
import { parseJson } from "../../core/rpc.ts";
import { ClaudeTranscript } from "../evaluators/claude_output.ts";

const Called = z.looseObject({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.unknown().optional(),
});
const Answered = z.looseObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  is_error: z.boolean().nullish(),
});
const Event = z.looseObject({
  type: z.enum(["assistant", "user"]),
  message: z.looseObject({ content: z.array(z.unknown()) }),
});

export interface TranscriptCall {
  /** As the CLI names the tool. */
  name: string;
  arguments: unknown;
  /** Not answered, refused, or answered with an error. */
  failed: boolean;
}

/** All that a client did for a task, from the lines that the CLI prints. */
export class TaskTranscript {
  readonly base = new ClaudeTranscript();
  readonly #calls = new Map<string, TranscriptCall>();

  read(line: string): void {
    this.base.read(line);
    for (const content of Event.safeParse(parseJson(line)).data?.message.content ?? []) {
      const { data: called } = Called.safeParse(content);
      if (called) {
        const { name, input = {} } = called;
        this.#calls.set(called.id, { name, arguments: input, failed: true });
      }
      const { data: answered } = Answered.safeParse(content);
      const call = answered && this.#calls.get(answered.tool_use_id);
      if (call) call.failed = answered.is_error === true;
    }
  }

  get calls(): TranscriptCall[] {
    return [...this.#calls.values()];
  }

  get answer(): string {
    return this.base.result?.result ?? "";
  }

  get turns(): number {
    return this.base.result?.num_turns ?? 0;
  }

  /** The servers that the client could not connect to, with their states. */
  get unconnected(): string[] {
    return (this.base.init?.mcp_servers ?? []).filter(({ status }) => status !== "connected")
      .map(({ name, status }) => `${name} (${status})`);
  }
}
