import { counted } from "../../core/text.ts";
import { within } from "../../core/async.ts";
import { candidateFiles, type LoadedServers, loadServers } from "../../config/mcp_file.ts";
import { type ConfigProblem, located } from "../../config/files.ts";
import { GatewayError } from "../../core/errors.ts";
import type { CommandInput } from "../command.ts";
import { fileLabel, isOwnEntry, selfOf, serversIn } from "../client_files.ts";
import { dirname } from "node:path";
import { inspectFile } from "../../storage/data_file.ts";
import { type Location, parseLocation } from "../../storage/kv_client.ts";
import { Store } from "../../storage/store.ts";
import { isBlockedPort } from "../../config/address.ts";
import type { FoundGateway } from "../operation_target.ts";
import { GatewayClient } from "../gateway_client.ts";
import { hostname } from "node:os";
import { isGroupAlive, startTimeOf } from "../../servers/processes/process_group.ts";
import { LeasesRepository, ProcessesRepository } from "../../storage/leases_repository.ts";
import { clientConfigFiles } from "../../config/clients.ts";

export interface CheckResult {
  /** What it belongs to: "config", "port", "server git". */
  about: string;
  level: "ok" | "warning" | "problem";
  message: string;
  fix?: string;
  /** The server that `doctor --fix` can repair. */
  repairable?: string;
}

export function ok(about: string, message: string, fix?: string): CheckResult {
  return { about, level: "ok", message, ...(fix === undefined ? {} : { fix }) };
}

export function warning(about: string, message: string, fix: string): CheckResult {
  return { about, level: "warning", message, fix };
}

export function problem(about: string, message: string, fix: string): CheckResult {
  return { about, level: "problem", message, fix };
}

export const TESTED_DENO = "2.9.6";

export function checkRuntime(version: string = Deno.version.deno): CheckResult[] {
  const order = version.localeCompare(TESTED_DENO, "en", { numeric: true });
  const tested = "the tested version";
  if (order === 0) return [ok("deno", `Deno ${version}, ${tested}`)];
  if (order > 0) return [ok("deno", `Deno ${version} is newer than ${TESTED_DENO}, ${tested}`)];
  return [warning(
    "deno",
    `Deno ${version} is older than ${TESTED_DENO}, ${tested}`,
    `Update with \`deno upgrade\`, or run it with \`npx -y deno@${TESTED_DENO} task start\``,
  )];
}

/** The config file and the settings file; what the former names goes on to the other checks. */
export async function checkConfig(
  input: CommandInput,
  address: string | undefined,
): Promise<{ findings: CheckResult[] } & Pick<LoadedServers, "servers" | "leftOut">> {
  const { options, dirs, env, platform } = input;
  const location = { path: options.config, cwd: Deno.cwd(), configDir: dirs.config };
  const findings = input.problems.map((found) => asFinding("settings", found));
  try {
    const { file, servers, leftOut, problems, declared } = await loadServers({
      ...location,
      env,
      platform,
      self: selfOf(input, address),
    });
    const text = file === undefined
      ? `No config file found (looked for ${candidateFiles(location).join(", ")})`
      : `${file} lists ${counted(declared, "server")}`;
    findings.push(ok("config", text));
    findings.push(...problems.map((found) => asFinding("config", found)));
    return { findings, servers, leftOut };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const fix = error.details.recoveryAction ?? "Fix the file";
    // The message ends with the same words.
    const end = error.message.toLowerCase().lastIndexOf(`; ${fix.toLowerCase()}`);
    const message = end < 0 ? error.message : error.message.slice(0, end);
    const found = problem("config", message, fix);
    return { findings: [...findings, found], servers: [], leftOut: [] };
  }
}

function asFinding(about: string, found: ConfigProblem): CheckResult {
  const make = found.severity === "error" ? problem : warning;
  return make(about, located(found, found.message), found.fix);
}

const LITTLE_SPACE = 200 * 1024 ** 2;
const NO_SPACE = 10 * 1024 ** 2;
const RESTORE = "Restore a backup with `quartermaster restore FILE`, or move the file away";

export async function checkData({ options }: CommandInput): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  if (options.dataDir !== undefined) findings.push(...await checkFolder(options.dataDir));
  findings.push(await checkStore(parseLocation(options.kv), options.kv));
  return findings;
}

async function checkFolder(folder: string): Promise<CheckResult[]> {
  const existing = await nearestFolder(folder);
  if (existing === undefined) {
    return [
      problem(
        "data",
        `Cannot create the folder ${folder}`,
        "Choose another folder with --data-dir",
      ),
    ];
  }
  try {
    await Deno.remove(await Deno.makeTempFile({ dir: existing, prefix: "quartermaster_doctor_" }));
  } catch {
    return [problem(
      "data",
      `Cannot write to ${existing}`,
      "Give your user write permission, or choose another folder with --data-dir",
    )];
  }
  const state = existing === folder ? "is writable" : "will be created at the first start";
  return [ok("data", `${folder} ${state}`), ...await checkSpace(existing)];
}

async function nearestFolder(path: string): Promise<string | undefined> {
  for (let folder = path;; folder = dirname(folder)) {
    const info = await Deno.stat(folder).catch(() => undefined);
    if (info) return info.isDirectory ? folder : undefined;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Says nothing if the system has no `df`. */
async function checkSpace(folder: string): Promise<CheckResult[]> {
  const df = new Deno.Command("df", { args: ["-Pk", folder], stdin: "null", stderr: "null" });
  const output = await df.output().catch(() => undefined);
  const line = new TextDecoder().decode(output?.stdout).trim().split("\n").at(-1) ?? "";
  const [, kilobytes] = /\s(\d+)\s+\d+%/.exec(line) ?? [];
  return kilobytes === undefined ? [] : [spaceFinding(Number(kilobytes) * 1024)];
}

export function spaceFinding(free: number): CheckResult {
  const size = free < 1024 ** 3
    ? `${Math.round(free / 1024 ** 2)} MiB`
    : `${Math.round(free / 1024 ** 3)} GiB`;
  const fix = "Free some space, or choose a folder on another disk with --data-dir";
  if (free < NO_SPACE) return problem("disk", `The disk is full: ${size} left`, fix);
  if (free < LITTLE_SPACE) return warning("disk", `The disk is nearly full: ${size} left`, fix);
  return ok("disk", `${size} free`);
}

async function checkStore(location: Location, kv: string | undefined): Promise<CheckResult> {
  if (location.kind === "memory") {
    return ok("store", "The data store is in memory: data is lost at exit");
  }
  try {
    if (location.kind === "file") {
      const state = await inspectFile(location.path);
      if (state.state === "absent") return ok("store", "The first start creates the data store");
      if (state.state === "damaged") {
        return problem("store", `The data store is damaged: ${state.why}`, RESTORE);
      }
      if (state.state === "foreign" || state.state === "unusable") {
        return problem(
          "store",
          `${location.label}: ${state.why}`,
          "Choose another data store with --kv",
        );
      }
      const wrong = state.state === "usable" ? await integrityOf(location.path) : undefined;
      if (wrong !== undefined) {
        return problem("store", `The data store is damaged: ${wrong}`, RESTORE);
      }
    }
    await using store = await Store.open({ location: kv });
    const version = `schema version ${store.schemaVersion}`;
    return ok("store", `${location.label} is intact, ${version}`);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return problem("store", error.message, error.toBody().recoveryAction);
  }
}

/** What the database finds wrong with itself, read only. */
async function integrityOf(path: string): Promise<string | undefined> {
  const { DatabaseSync } = await import("node:sqlite");
  try {
    // By path: as a URL it is not found without every permission there is.
    using database = new DatabaseSync(path, { readOnly: true });
    const finding = String(database.prepare("pragma quick_check(1)").get()?.["quick_check"]);
    return finding === "ok" ? undefined : finding.replaceAll(/\s+/g, " ");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    // Anything else (a lock, a missing right) is for the real opening to meet.
    return /not a database|malformed/i.test(why) ? why : undefined;
  }
}

const ABOUT = "port";
/** Whatever listens there may take what is said and never answer. */
const ANSWER_LIMIT_MS = 2_000;
const OTHER_PORT = "Stop the program that uses it, or choose another port with --port";

/** Whether a gateway can have its port, or who has it. */
export async function checkPort(
  { host, port }: { host: string; port: number },
  gateways: readonly FoundGateway[],
): Promise<CheckResult[]> {
  const running = gateways.map(({ address, status: { pid, version } }) =>
    ok("gateway", `A gateway is running at ${address} (pid ${pid}, version ${version})`)
  );
  if (port === 0) return [...running, ok(ABOUT, "The system chooses a port at each start")];
  if (isBlockedPort(new URL(`http://127.0.0.1:${port}`))) {
    running.push(problem(
      ABOUT,
      `Browsers and many clients refuse to connect to port ${port}`,
      "Choose another port with --port",
    ));
  }
  const own = gateways.find(({ address }) => Number(new URL(address).port) === port);
  const state = own
    ? ok(ABOUT, `Port ${port} is used by this gateway (pid ${own.status.pid})`)
    : await tryPort(host, port);
  const other = gateways[0];
  if (!own && other && state.level === "ok") {
    return [...running, ok(ABOUT, `The gateway runs at ${other.address} instead of port ${port}`)];
  }
  return [...running, state];
}

async function tryPort(host: string, port: number): Promise<CheckResult> {
  try {
    Deno.listen({ hostname: host, port }).close();
    return ok(ABOUT, `Port ${port} on ${host} is free`);
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return await whoHas(host, port);
    if (error instanceof Deno.errors.AddrNotAvailable) {
      return problem(
        ABOUT,
        `This machine does not have the address ${host}`,
        "Choose another address with --host",
      );
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      const advice = "Choose a port above 1023 with --port";
      return problem(ABOUT, `The system does not allow listening on port ${port}`, advice);
    }
    const words = error instanceof Error ? error.message : String(error);
    return problem(
      ABOUT,
      `Cannot listen on ${host}:${port}: ${words}`,
      "Choose another port with --port",
    );
  }
}

async function whoHas(host: string, port: number): Promise<CheckResult> {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const address = `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
  const asked = new GatewayClient(address).status().catch(() => undefined);
  const status = await within(asked, ANSWER_LIMIT_MS);
  if (!status) return problem(ABOUT, `Port ${port} is used by another program`, OTHER_PORT);
  return warning(
    ABOUT,
    `Port ${port} is used by a gateway with another data folder (pid ${status.pid})`,
    "Use --data-dir to check that gateway, or choose another port with --port",
  );
}

/** Programs that a gateway started which is no more. Looks only: gateways end them themselves. */
export async function checkLeftovers(store: Store, isRunning: boolean): Promise<CheckResult[]> {
  const leases = new LeasesRepository(store);
  const host = hostname();
  const left: string[] = [];
  const processes = await new ProcessesRepository(store).values();
  for (const { leaseId, pgid, command, host: where, startTime } of processes) {
    if (where !== host || pgid === undefined) continue;
    const lease = await leases.find(leaseId);
    const isAlive = lease !== undefined && lease.expiresAt > Date.now() &&
      (lease.host !== host || await startTimeOf(lease.pid) !== undefined);
    if (isAlive || await startTimeOf(pgid) !== startTime || !await isGroupAlive(pgid)) continue;
    left.push(`${command} (process group ${pgid})`);
  }
  if (left.length === 0) return [ok("leftovers", "No leftover processes of killed gateways")];
  return [warning(
    "leftovers",
    `A killed gateway or command left processes running: ${left.join(", ")}`,
    isRunning
      ? "Wait: the running gateway ends them within 30 s"
      : "Start a gateway on this data folder to end them",
  )];
}

/** Which clients have this gateway in their config, and whether at the right address. */
export async function checkClients(
  input: CommandInput,
  address: string | undefined,
): Promise<CheckResult[]> {
  const self = selfOf(input, address);
  const findings: CheckResult[] = [];
  for (const file of clientConfigFiles({ os: Deno.build.os, env: input.env, cwd: Deno.cwd() })) {
    try {
      for (const server of await serversIn(file, input, self)) {
        if (!isOwnEntry(server)) continue;
        const where = `"${server.writtenAs}" in ${file.path}`;
        findings.push(
          server.isSelf ? ok("client", `${fileLabel(file)} uses this gateway: ${where}`) : warning(
            "client",
            `${fileLabel(file)} expects the gateway on a port other than ${self.port}: ${where}`,
            `Update it with \`quartermaster connect ${file.client} --write\``,
          ),
        );
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      findings.push(warning("client", error.message, `${fileLabel(file)} cannot read it either`));
    }
  }
  if (findings.length > 0) return findings;
  const message = "No client on this machine uses this gateway";
  return [ok("client", message, "Add it with `quartermaster connect CLIENT --write`")];
}
