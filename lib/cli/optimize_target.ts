import { configError } from "../config/problem.ts";
import type { NamedTools } from "./find_tool.ts";
import { refOf } from "./optimize_command.ts";
import type { NewJob } from "./optimization_client.ts";

type Target = Omit<NewJob, "options">;

const USAGE = "Write it as: deno task cli optimize run SERVER, SERVER.TOOL..., or --all";

/** What a job is to work on: everything, one server, or tools by any of their names. */
export function targetOf(
  words: readonly string[],
  isAll: boolean,
  known: { servers: readonly string[]; tools: NamedTools },
): Target {
  if (isAll) {
    if (words.length === 0) return { all: true };
    throw configError(
      `optimize run takes either --all or names, not --all and "${words[0]}"`,
      USAGE,
    );
  }
  const [first, ...others] = words;
  if (first === undefined) throw configError("optimize run needs to know what to optimize", USAGE);
  const server = words.find((word) => known.servers.includes(word));
  if (server !== undefined) {
    if (others.length === 0) return { server };
    throw configError(
      `optimize run takes one server, or tools, not "${server}" among others`,
      USAGE,
    );
  }
  const refs = words.map((word) => refOf(word, known.tools));
  const owners = [...new Set(refs.map((ref) => ref.server))];
  if (owners.length > 1) {
    throw configError(
      `optimize run takes tools of one server at a time, not of ${owners.join(" and ")}`,
      "Start it once for each server, or give --all",
    );
  }
  return { server: owners[0]!, tools: [...new Set(refs.map(({ tool }) => tool))] };
}
