import { isViewName, VIEW_NAMES } from "../http/endpoint_path.ts";
import type { CommandFlag } from "../config/command_line.ts";
import { configError } from "../config/files.ts";

/** What `--stdio` shows unless a flag says otherwise. */
const ENDPOINT = "/mcp";

/** Which endpoint a client gets that speaks stdio. */
export const STDIO_FLAGS: readonly CommandFlag[] = [
  { flag: "expose", placeholder: "VIEW", meaning: `What is listed: ${VIEW_NAMES.join(", ")}` },
  { flag: "toolset", placeholder: "NAME", meaning: "Exactly that saved toolset" },
  { flag: "server", placeholder: "NAME", meaning: "Only that server, complete" },
];

/** The path of the endpoint that was asked for. */
export function endpointPathOf(flags: ReadonlyMap<string, string | boolean>): string {
  const given = STDIO_FLAGS.filter(({ flag }) => flags.has(flag));
  if (given.length > 1) {
    throw configError(
      `Cannot open more than one endpoint: ${given.map(({ flag }) => `--${flag}`).join(", ")}`,
      "Give one of them",
    );
  }
  const [only] = given;
  if (!only) return ENDPOINT;
  const value = String(flags.get(only.flag));
  const name = encodeURIComponent(value);
  if (only.flag === "expose") {
    if (isViewName(value)) return `${ENDPOINT}?expose=${name}`;
    throw configError(`Cannot use --expose "${value}"`, `Choose one of ${VIEW_NAMES.join(", ")}`);
  }
  if (value === "") throw configError(`Cannot use --${only.flag} ""`, "Give it a name");
  return only.flag === "toolset" ? `/toolsets/${name}/mcp` : `/servers/${name}/mcp`;
}

/** Refuses what has no meaning without --stdio. */
export function checkStdioFlags(
  flags: ReadonlyMap<string, string | boolean>,
  { stdio, standalone }: { stdio: boolean; standalone: boolean },
): void {
  const lone = standalone ? "standalone" : STDIO_FLAGS.find(({ flag }) => flags.has(flag))?.flag;
  if (stdio || lone === undefined) return;
  throw configError(`--${lone} is for clients that speak stdio`, "Give --stdio too");
}
