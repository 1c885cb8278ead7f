import { dirname, fromFileUrl, join } from "@std/path";
import { PROCESS_ENV } from "../../config/folders.ts";
import { nonEmpty, programCommand } from "../../config/platform.ts";
import { type OptionName, OPTIONS, variableOf } from "../../config/option_table.ts";
import { configError } from "../../config/files.ts";
import { GatewayError } from "../../core/errors.ts";
import { IS_PACKAGE, ROOT } from "../../core/product.ts";
import type { Command, CommandInput } from "../command.ts";
import { listGateways } from "../operation_target.ts";
import { printError } from "../terminal.ts";
import { dataFolderOf, type ServiceDefinition } from "./definition.ts";
import { type ServiceManager, serviceManager } from "./manager.ts";

const NOT_KEPT: ReadonlySet<OptionName> = new Set(["stdio", "standalone", "token", "development"]);

const STORE_TOKENS = ["QUARTERMASTER_KV_TOKEN", "DENO_KV_ACCESS_TOKEN"];

export const serviceInstall: Command = {
  usage: "service install [--print]",
  meaning: "Run the gateway in the background and at every login; run again to update",
  details: [
    "Linux: a systemd user unit. macOS: a launch agent. Windows: a scheduled task. The service keeps the",
    "options given here, such as --port 4000, except secrets: put variables such as",
    "QUARTERMASTER_ADMIN_TOKEN into service.env in the config folder (systemd only).",
  ],
  flags: [
    { flag: "print", meaning: "Print the definition without installing it" },
  ],
  async run(input) {
    const manager = serviceManager(input);
    const { definition, secrets } = await defineService(input);
    const text = manager.text(definition);
    const where = { manager: manager.name, file: manager.file, dataDir: input.options.dataDir };
    if (input.flags.get("print")) return { data: { ...where, text }, text };
    refuseTemporary(fromFileUrl(ROOT));
    const isUpdate = await findInstalled(manager) !== undefined;
    await manager.check();
    if (!isUpdate) await refuseRunning(input);
    await Deno.mkdir(definition.workingDirectory, { recursive: true });
    await Deno.mkdir(dirname(definition.logFile), { recursive: true });
    await Deno.mkdir(dirname(manager.file), { recursive: true });
    await Deno.writeFile(manager.file, encoded(text));
    try {
      await manager.load();
    } catch (error) {
      // A partial installation would look like a complete one.
      if (!isUpdate) await Deno.remove(manager.file);
      throw error;
    }
    for (const variable of secrets) {
      printError(
        `quartermaster: ${variable} is not passed to the service; ${manager.secrets(definition)}\n`,
      );
    }
    if (!IS_PACKAGE && /[/\\]_npx[/\\]/.test(Deno.execPath())) {
      printError(
        "quartermaster: the service runs Deno from npx's cache, and cleaning that cache breaks it; " +
          "install Deno or the quartermaster package, then run this command again\n",
      );
    }
    return {
      data: { ...where, updated: isUpdate, logs: manager.logs },
      text: `${isUpdate ? "Updated" : "Installed"} and started: ${manager.file}\n` +
        `  data: ${where.dataDir}\n  logs: ${manager.logs}\n` +
        "  To check that it keeps running: quartermaster service status\n" +
        (manager.note === undefined ? "" : `  ${manager.note}\n`),
    };
  },
};

export const serviceStatus: Command = {
  usage: "service status",
  meaning: "Show whether the service is installed and running; exit code 1 if not running",
  async run(input) {
    const manager = serviceManager(input);
    const dataDir = await findInstalled(manager);
    const installed = dataDir !== undefined;
    const { enabled, running } = installed
      ? await manager.state()
      : { enabled: false, running: false };
    const { name, file, logs } = manager;
    return {
      data: { installed, enabled, running, manager: name, file, logs, dataDir },
      text: installed
        ? `The service ${running ? "is running" : "is not running"} and ` +
          `${enabled ? "starts at login" : "does not start at login"}.\n` +
          `  definition: ${file}\n  logs: ${logs}\n  data: ${dataDir}\n`
        : "No service is installed. Install it with `quartermaster service install`.\n",
      exitCode: running ? 0 : 1,
    };
  },
};

export const serviceRemove: Command = {
  usage: "service remove",
  meaning: "Stop and remove the service; your data stays",
  async run(input) {
    const manager = serviceManager(input);
    const { file } = manager;
    const dataDir = await findInstalled(manager);
    const removed = dataDir !== undefined;
    if (removed) {
      await manager.unload();
      await Deno.remove(file);
      await manager.forget?.();
    }
    return {
      data: { removed, file, dataDir },
      text: removed
        ? `Stopped and removed: ${file}\n  Your data stays in ${dataDir}\n`
        : "No service is installed.\n",
    };
  },
};

/** How the gateway would be started here, and the secrets left out of the definition. */
export async function defineService(
  input: CommandInput,
): Promise<{ definition: ServiceDefinition; secrets: string[] }> {
  const { options, dirs, env } = input;
  if (options.dataDir === undefined || dirs.config === undefined) {
    throw configError("Cannot install a service without a data folder", "Pass --data-dir");
  }
  // The service does not start in this folder, but should use the servers configured here.
  const local = join(Deno.cwd(), ".mcp.json");
  const isThere = await Deno.stat(local).then(({ isFile }) => isFile, () => false);
  const config = options.config ?? (isThere ? local : undefined);
  const { flags, secrets } = keptFlags(input);
  // Not an option, but a remote store cannot be opened without it.
  secrets.push(...STORE_TOKENS.filter((name) => nonEmpty(env, name) !== undefined));
  const names = ["PATH", "XDG_CONFIG_HOME", ...(IS_PACKAGE ? [] : ["DENO_DIR"])];
  return {
    secrets,
    definition: {
      command: [
        ...programCommand("serve", options),
        ...["--data-dir", options.dataDir],
        ...(config === undefined ? [] : ["--config", config]),
        ...flags,
      ],
      env: {
        ...PROCESS_ENV,
        ...Object.fromEntries(names.flatMap((name) => {
          const value = nonEmpty(env, name);
          return value === undefined ? [] : [[name, value]];
        })),
      },
      workingDirectory: options.dataDir,
      envFile: join(dirs.config, "service.env"),
      logFile: join(options.dataDir, "logs", "service.log"),
    },
  };
}

function keptFlags({ options, origins, values, env }: CommandInput) {
  const flags: string[] = [];
  const secrets: string[] = [];
  for (const name of Object.keys(OPTIONS) as OptionName[]) {
    const { flag, placeholder, isSecret } = OPTIONS[name];
    const origin = origins[name];
    if (NOT_KEPT.has(name) || name === "dataDir" || name === "config") continue;
    if (origin !== "flag" && origin !== "environment") continue;
    const variable = variableOf({ flag });
    if (isSecret) secrets.push(variable);
    else if (placeholder === undefined) flags.push(options[name] ? `--${flag}` : `--no-${flag}`);
    else {
      const given = origin === "flag" ? values.get(flag)?.at(-1) : nonEmpty(env, variable);
      const value = name === "kv" ? options.kv : given;
      if (value !== undefined) flags.push(`--${flag}`, value);
    }
  }
  return { flags, secrets };
}

/** The data folder of the installed service. Throws for a service of that name that is not ours. */
async function findInstalled({ file }: ServiceManager): Promise<string | undefined> {
  const bytes = await Deno.readFile(file).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  if (!bytes) return undefined;
  const text = new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-8").decode(bytes);
  const dataDir = dataFolderOf(text);
  if (dataDir !== undefined) return dataDir;
  throw new GatewayError("CONFLICT", {
    message: `Quartermaster did not create ${file}`,
    recoveryAction: "Move it elsewhere, then run the command again",
  });
}

/** npx may delete its cache at any time, and the service with it. */
export function refuseTemporary(folder: string): void {
  if (!/[/\\]_npx[/\\]/.test(folder)) return;
  throw configError(
    "Cannot install a service that runs from npx's temporary cache",
    "Install the package first, with `npm install -g`",
  );
}

/** Two gateways would compete for one port. */
async function refuseRunning(input: CommandInput): Promise<void> {
  const [gateway] = await listGateways(input);
  if (gateway === undefined) return;
  throw new GatewayError("CONFLICT", {
    message: `A gateway is already running on this data folder at ${gateway.address} ` +
      `(pid ${gateway.status.pid})`,
    recoveryAction: "Stop it, then run the command again",
  });
}

/** schtasks reads UTF-16 with a byte order mark. */
function encoded(text: string): Uint8Array {
  if (!text.includes('encoding="UTF-16"')) return new TextEncoder().encode(text);
  const units = Uint16Array.from(`\ufeff${text}`, (char) => char.charCodeAt(0));
  return new Uint8Array(units.buffer);
}
