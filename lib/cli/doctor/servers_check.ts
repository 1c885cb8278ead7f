import { counted } from "../../core/text.ts";
import { isBlockedPort } from "../../config/address.ts";
import { type Env, nonEmpty } from "../../config/platform.ts";
import { type FailureCause, failureCause } from "../../core/failure_cause.ts";
import { isProgram, isRemote, type ProgramSpec, type ServerSpec } from "../../core/server.ts";
import { type FoundGateway, listServers } from "../operation_target.ts";
import type { Status } from "../../operations/servers.ts";
import { findInstaller } from "../../servers/processes/installer.ts";
import { type CheckResult, ok, problem, warning } from "./checks.ts";
import { delimiter, isAbsolute, join, resolve } from "node:path";

const CONNECT_LIMIT_MS = 10_000;
const AT_ONCE = 4;

/** What can be told of servers without connecting to them: programs that are missing, refused ports. */
export async function checkEntries(
  servers: Iterable<{ name: string; spec: ServerSpec }>,
  env: Env,
): Promise<{ findings: CheckResult[]; hopeless: Set<string> }> {
  const findings: CheckResult[] = [];
  const hopeless = new Set<string>();
  for (const { name, spec } of servers) {
    if (spec.disabled) continue;
    if (isProgram(spec) && spec.pin === false && findInstaller([spec.command, ...spec.args])) {
      findings.push(warning(
        `packages of ${name}`,
        "Not pinned: each start runs whatever their registry has by then",
        'Remove "pin": false from its entry',
      ));
    }
    const reason = isProgram(spec)
      ? await missingProgram(spec, env)
      : isRemote(spec) && isBlockedPort(new URL(spec.url))
      ? `Deno refuses to connect to port ${new URL(spec.url).port}`
      : undefined;
    if (reason === undefined) continue;
    hopeless.add(name);
    const fix = isProgram(spec)
      ? "Install it, or correct the server's entry"
      : "Run the server on another port";
    findings.push(problem(`server ${name}`, `Cannot start: ${reason}`, fix));
  }
  return { findings, hopeless };
}

export async function checkRunning(
  gateways: readonly FoundGateway[],
  hopeless: ReadonlySet<string>,
): Promise<CheckResult[]> {
  const lists = await Promise.all(gateways.map(async ({ client, address }) => {
    const where = gateways.length > 1 ? ` at ${address}` : "";
    return (await listServers(client)).filter((row) =>
      row.state === "ready" || !hopeless.has(row.name)
    )
      .map((row) => stateFinding(row, where));
  }));
  return lists.flat();
}

/** Connects to each server, a few at a time; `tryOut` lets it go again. */
export async function checkByConnecting(
  rows: readonly Status[],
  tryOut: (name: string, limitMs: number) => Promise<Status>,
): Promise<CheckResult[]> {
  const waiting = [...rows];
  const findings = new Map<string, CheckResult>();
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
  { name, state, reason, toolCount }: Status,
  where: string,
): CheckResult {
  const about = `server ${name}`;
  const words = `${reason.replace(/[.\s]+$/, "")}${where}`;
  switch (state) {
    case "ready":
      return ok(about, `Ready${where}: ${counted(toolCount, "tool")}`);
    case "disabled":
      return ok(about, `Disabled${where}`);
    case "paused":
      return ok(about, `Paused${where}: reconnect it with \`quartermaster server resume ${name}\``);
    case "needs_login":
      return warning(about, words, "Log in, or add credentials as a header in its entry");
    case "installing":
      return warning(about, words, "Wait: the first start downloads the package");
    case "starting":
      return warning(about, words, "Run `quartermaster doctor` again in a moment");
    case "degraded":
      return warning(about, words, `See \`quartermaster server logs ${name}\``);
    default: {
      const cause = failureCause(reason);
      const finding = problem(about, words, adviceFor(cause, name));
      return cause === "broken_cache" ? { ...finding, repairable: name } : finding;
    }
  }
}

function adviceFor(cause: FailureCause | undefined, name: string): string {
  const advice: Partial<Record<FailureCause, string>> = {
    broken_cache:
      `Run \`quartermaster server repair ${name}\`, or \`quartermaster doctor --fix\`, ` +
      "to reinstall the package",
    package_changed:
      "Ask the package's author whether the release was replaced; to trust what is " +
      `there now, run \`quartermaster package forget ${name}\``,
    command_not_found: "Install the program, or use its full path as the command; a service may " +
      "have a different PATH than your terminal",
    package_not_found: "Check the package name and version in the entry, and the registry",
    missing_variable:
      "Set the variable under `env` in its entry; use ${secret:NAME}, ${keychain:NAME}, " +
      "${vault:PATH#KEY} or ${op://VAULT/ITEM/FIELD} for a secret",
    missing_module:
      "Install the program's dependencies (`npm install`, `pip install`) in its folder",
    port_in_use: "Stop the process that uses the port, or give the server another port",
    login: `Log in (\`quartermaster server login ${name}\`), or correct its credentials`,
    unreachable: "Start the server, or check its URL and this machine's network",
    install_timeout:
      "Check the network and the package registry; the gateway retries automatically",
    start_timeout: "Run its command in a terminal to see what it is waiting for; if it is only " +
      "slow, raise `startTimeoutMs` in its entry",
    usage: "Correct `args` in its entry; the program's output shows its usage",
  };
  return cause && advice[cause] ||
    `See \`quartermaster server logs ${name}\` while a gateway is running`;
}

/** Why a server's program cannot be started from here; undefined if it can. */
export async function missingProgram(
  { command, cwd, env: own }: Pick<ProgramSpec, "command" | "cwd" | "env">,
  env: Env,
  os: typeof Deno.build.os = Deno.build.os,
): Promise<string | undefined> {
  if (cwd !== undefined && !(await find(cwd))?.isDirectory) {
    return `its working directory "${cwd}" does not exist`;
  }
  const ends = os === "windows"
    ? ["", ...(nonEmpty(env, "PATHEXT") ?? ".EXE;.CMD;.BAT").split(";")]
    : [""];
  const isPath = /[/\\]/.test(command);
  const folders = isPath
    ? [isAbsolute(command) ? "" : resolve(cwd ?? ".")]
    : (own.PATH ?? nonEmpty(env, "PATH") ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    for (const end of ends) {
      const info = await find((folder === "" ? command : join(folder, command)) + end);
      if (!info?.isFile) continue;
      if (os === "windows" || info.mode === null || (info.mode & 0o111) !== 0) return undefined;
      if (isPath) return `"${command}" is not executable`;
    }
  }
  return isPath ? `there is no file "${command}"` : `command "${command}" is not on PATH`;
}

async function find(path: string): Promise<Deno.FileInfo | undefined> {
  return await Deno.stat(path).catch(() => undefined);
}
