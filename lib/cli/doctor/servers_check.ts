import { isBlockedPort } from "../../config/blocked_ports.ts";
import type { Env } from "../../config/env.ts";
import type { ServerSpec } from "../../core/server.ts";
import type { FoundGateway } from "../find_gateways.ts";
import type { ServerRow } from "../servers_access.ts";
import { missingProgram } from "./command_check.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const CONNECT_LIMIT_MS = 10_000;
const AT_ONCE = 4;

/** What can be told of servers without connecting to them: programs that are missing, refused ports. */
export async function checkEntries(
  servers: Iterable<{ name: string; spec: ServerSpec }>,
  env: Env,
): Promise<{ findings: Finding[]; hopeless: Set<string> }> {
  const findings: Finding[] = [];
  const hopeless = new Set<string>();
  for (const { name, spec } of servers) {
    if (spec.disabled || spec.type === "demo") continue;
    const reason = spec.type === "stdio"
      ? await missingProgram(spec, env)
      : isBlockedPort(new URL(spec.url))
      ? `port ${new URL(spec.url).port} is one that Deno refuses to connect to`
      : undefined;
    if (reason === undefined) continue;
    hopeless.add(name);
    const fix = spec.type === "stdio"
      ? "Install it, or correct the server's entry"
      : "Let the server listen on another port";
    findings.push(problem(`server ${name}`, `Cannot be started: ${reason}`, fix));
  }
  return { findings, hopeless };
}

/** The servers as the gateways that run have them. */
export async function checkRunning(
  gateways: readonly FoundGateway[],
  hopeless: ReadonlySet<string>,
): Promise<Finding[]> {
  const lists = await Promise.all(gateways.map(async ({ client, address }) => {
    const where = gateways.length > 1 ? ` at ${address}` : "";
    return (await client.list()).filter((row) => row.state === "ready" || !hopeless.has(row.name))
      .map((row) => stateFinding(row, where));
  }));
  return lists.flat();
}

/** Connects to each server, a few at a time; `tryOut` lets it go again. */
export async function checkByConnecting(
  rows: readonly ServerRow[],
  tryOut: (name: string, limitMs: number) => Promise<ServerRow>,
): Promise<Finding[]> {
  const waiting = [...rows];
  const findings = new Map<string, Finding>();
  const work = async () => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      const known = row.state === "not_running" ? await tryOut(row.name, CONNECT_LIMIT_MS) : row;
      findings.set(row.name, stateFinding(known, ""));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return rows.flatMap(({ name }) => findings.get(name) ?? []);
}

export function stateFinding(
  { name, state, reason, toolCount }: ServerRow,
  where: string,
): Finding {
  const about = `server ${name}`;
  const words = `${reason.replace(/[.\s]+$/, "")}${where}`;
  switch (state) {
    case "ready":
      return ok(about, `Ready${where}: ${toolCount} ${toolCount === 1 ? "tool" : "tools"}`);
    case "disabled":
      return ok(about, `Switched off${where}`);
    case "needs_login":
      return warning(about, words, "Give credentials as a header in its entry, or log in");
    case "connecting":
      return warning(about, words, "Look again in a while; the first start may be a download");
    case "degraded":
      return warning(about, words, `See \`deno task cli server logs ${name}\``);
    default:
      return problem(
        about,
        words,
        `Correct its entry; see \`deno task cli server logs ${name}\` while a gateway runs`,
      );
  }
}
