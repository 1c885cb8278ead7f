import { dirname } from "node:path";
import { GatewayError } from "../../core/errors.ts";
import { inspectFile } from "../../storage/data_file.ts";
import { type Location, parseLocation } from "../../storage/kv_client.ts";
import { Store } from "../../storage/store.ts";
import type { CommandInput } from "../command.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const LITTLE_SPACE = 200 * 1024 ** 2;
const NO_SPACE = 10 * 1024 ** 2;
const RESTORE = "Restore a backup with `quartermaster restore FILE`, or move the file away";

/** The folder, the room on its disk, and the store in it. */
export async function checkData({ options }: CommandInput): Promise<Finding[]> {
  const findings: Finding[] = [];
  if (options.dataDir !== undefined) findings.push(...await checkFolder(options.dataDir));
  findings.push(await checkStore(parseLocation(options.kv), options.kv));
  return findings;
}

async function checkFolder(folder: string): Promise<Finding[]> {
  const existing = await nearestFolder(folder);
  if (existing === undefined) {
    return [problem("data", `${folder} cannot be a folder`, "Choose another with --data-dir")];
  }
  try {
    await Deno.remove(await Deno.makeTempFile({ dir: existing, prefix: "quartermaster_doctor_" }));
  } catch {
    return [problem(
      "data",
      `${existing} cannot be written to`,
      "Give your user the right to, or choose another folder with --data-dir",
    )];
  }
  const isThere = existing === folder;
  const found = ok(
    "data",
    isThere ? `${folder} can be written to` : `${folder} will be made at the first start`,
  );
  return [found, ...await checkSpace(existing)];
}

async function nearestFolder(path: string): Promise<string | undefined> {
  for (let folder = path;; folder = dirname(folder)) {
    const info = await Deno.stat(folder).catch(() => undefined);
    if (info) return info.isDirectory ? folder : undefined;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Says nothing where the system does not tell. */
async function checkSpace(folder: string): Promise<Finding[]> {
  if (Deno.build.os === "windows") return [];
  const output = await run("df", ["-Pk", folder]);
  const line = output.trim().split("\n").at(-1) ?? "";
  const free = Number(line.match(/\s(\d+)\s+\d+%/)?.[1] ?? NaN) * 1024;
  return Number.isFinite(free) ? [spaceFinding(free)] : [];
}

async function run(command: string, args: string[]): Promise<string> {
  try {
    const { stdout } = await new Deno.Command(command, { args, stdin: "null", stderr: "null" })
      .output();
    return new TextDecoder().decode(stdout);
  } catch {
    return "";
  }
}

export function spaceFinding(free: number): Finding {
  const size = free < 1024 ** 3
    ? `${Math.round(free / 1024 ** 2)} MiB`
    : `${Math.round(free / 1024 ** 3)} GiB`;
  const fix = "Free some space, or choose a folder on another disk with --data-dir";
  if (free < NO_SPACE) return problem("disk", `The disk is full: ${size} are left`, fix);
  if (free < LITTLE_SPACE) return warning("disk", `The disk is nearly full: ${size} are left`, fix);
  return ok("disk", `${size} are free`);
}

async function checkStore(location: Location, kv: string | undefined): Promise<Finding> {
  if (location.kind === "memory") return ok("store", "The store is in memory: nothing is kept");
  try {
    if (location.kind === "file") {
      const state = await inspectFile(location.path);
      if (state.state === "absent") return ok("store", "The first start makes the data store");
      if (state.state === "damaged") {
        return problem("store", `It is damaged: ${state.why}`, RESTORE);
      }
      if (state.state === "foreign" || state.state === "unusable") {
        return problem("store", `${location.label}: ${state.why}`, "Choose another with --kv");
      }
      const wrong = state.state === "usable" ? await integrityOf(location.path) : undefined;
      if (wrong !== undefined) return problem("store", `It is damaged: ${wrong}`, RESTORE);
    }
    await using store = await Store.open({ location: kv });
    return ok(
      "store",
      `${location.label} opens and is whole, schema version ${store.schemaVersion}`,
    );
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
