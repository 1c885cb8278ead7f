import { join } from "@std/path";

export interface FakeClaude extends AsyncDisposable {
  path: string;
  /** Stays until the end, for what the program writes down. */
  folder: string;
}

/** A program in the CLI's place: a shell script, which knows its folder as $FOLDER. */
export async function fakeClaude(script: string): Promise<FakeClaude> {
  const folder = await Deno.makeTempDir({ prefix: "fake_claude_" });
  const path = join(folder, "claude");
  await Deno.writeTextFile(path, `#!/bin/sh\nFOLDER="${folder}"\n${script}\n`, { mode: 0o755 });
  return {
    path,
    folder,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** A script that prints these events. */
export function printing(...events: object[]): string {
  return `cat <<'END'\n${events.map((event) => JSON.stringify(event)).join("\n")}\nEND`;
}

export function init(tools: string[], status = "connected") {
  return {
    type: "system",
    subtype: "init",
    tools: tools.map((name) => `mcp__tools__${name}`),
    mcp_servers: [{ name: "tools", status }],
  };
}

/** One block of a message. */
export function said(id: string, block: object, model = "claude-x") {
  return { type: "assistant", message: { id, model, content: [block] }, parent_tool_use_id: null };
}

export function text(words: string) {
  return { type: "text", text: words };
}

export function toolUse(name: string, input: unknown = {}) {
  return { type: "tool_use", id: `toolu_${name}`, name, input };
}

export function result(more: object = {}) {
  return {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "Done",
    stop_reason: "end_turn",
    total_cost_usd: 0.25,
    usage: {
      input_tokens: 1,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 300,
      output_tokens: 4,
    },
    ...more,
  };
}
