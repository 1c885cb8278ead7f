import type { CommandInput } from "./command.ts";
import { openServers } from "./servers_access.ts";
import type { ImportReport, ToolsetDetail, ToolsetList } from "./toolset_answers.ts";

export interface NewToolset {
  name: string;
  description?: string;
  /** By any of their names, or `server.*`. */
  tools: string[];
  replace: boolean;
}

export interface ImportOptions {
  /** Overwrite toolsets of the same name. */
  replace: boolean;
  /** Only say what would be saved. */
  dryRun: boolean;
}

/** The toolsets, whether a gateway runs or not. */
export interface ToolsetsAccess {
  list(): Promise<ToolsetList>;
  show(name: string): Promise<ToolsetDetail>;
  create(toolset: NewToolset): Promise<ToolsetDetail>;
  remove(name: string): Promise<void>;
  equip(name: string): Promise<ToolsetDetail>;
  /** Answers the name of what was equipped. */
  unequip(): Promise<string | null>;
  /** A file with these toolsets; without names, with all. */
  export(names: readonly string[]): Promise<unknown>;
  import(file: unknown, options: ImportOptions): Promise<ImportReport>;
}

export interface OpenToolsets extends AsyncDisposable {
  readonly isRunning: boolean;
  toolsets: ToolsetsAccess;
}

/** Through the gateway that runs on this data store, else on the store itself. */
export async function openToolsets(input: CommandInput): Promise<OpenToolsets> {
  await using stack = new AsyncDisposableStack();
  const servers = stack.use(await openServers(input));
  const toolsets = await servers.toolsets();
  const opened = stack.move();
  return {
    isRunning: servers.isRunning,
    toolsets,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
