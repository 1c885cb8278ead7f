import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { loadServers, type LoadServersInput } from "../mcp_file.ts";

export type LoadSettings = Partial<LoadServersInput> & { variables?: Record<string, string> };

export function loadInput(
  cwd: string,
  { variables = {}, ...rest }: LoadSettings,
): LoadServersInput {
  return {
    cwd,
    env: { get: (name) => variables[name] },
    self: { port: 3333, host: "127.0.0.1", mainModule: "/opt/qm/main.ts" },
    platform: { name: "local", canSpawn: true, canWrite: true },
    ...rest,
  };
}

export async function inFolder(
  files: Record<string, string | Uint8Array>,
  run: (folder: string) => Promise<void>,
) {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const [name, content] of Object.entries(files)) {
      await Deno.mkdir(dirname(join(folder, name)), { recursive: true });
      if (typeof content === "string") await Deno.writeTextFile(join(folder, name), content);
      else await Deno.writeFile(join(folder, name), content);
    }
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Loads one file that stands where a project keeps it. */
export async function loadText(text: string | object, settings: LoadSettings = {}) {
  const content = typeof text === "string" ? text : JSON.stringify({ mcpServers: text });
  let loaded: Awaited<ReturnType<typeof loadServers>> | undefined;
  await inFolder({ ".mcp.json": content }, async (folder) => {
    loaded = await loadServers(loadInput(folder, settings));
  });
  assert.ok(loaded);
  const lines = loaded.problems.map(({ severity, line, column, message, fix }) =>
    `${severity} ${line}:${column} ${message}. ${fix}`
  );
  return { ...loaded, lines, only: loaded.servers[0] };
}
