import { fromFileUrl } from "@std/path";
import { MAIN } from "../core/product.ts";
import type { Env } from "./platform.ts";
import {
  candidateFiles,
  type LoadedServers,
  loadServers,
  type LoadServersInput,
} from "./mcp_file.ts";
import type { GatewayIdentity } from "./loops.ts";
import type { Options } from "./option_table.ts";
import type { ReadOptions } from "./options.ts";
import { type ConfigProblem, formatProblem } from "./files.ts";
import { stampFiles, watchFiles, type WatchOptions } from "./watch_files.ts";

type ModuleLog = Record<
  "info" | "warn" | "error",
  (details: object, message: string) => void
>;

export interface LogSource {
  module(name: string): ModuleLog;
  redactor: { learn(secrets: string[]): void };
}

export interface ConfigInput {
  read: ReadOptions;
  env: Env;
  cwd: string;
  self: LoadServersInput["self"];
  logs: LogSource;
}

export interface GatewayLocation {
  address: string;
  /** Where it listens on this machine; empty if it does not. */
  localAddress: string;
  self: GatewayIdentity;
}

export function locateGateway(
  { host, publicUrl, port: configured }: Options,
  port: number | undefined,
  isCommand: boolean,
): GatewayLocation {
  // Empty without a port, so that no process that finds our lease tries to connect.
  const localAddress = port === undefined ? "" : `http://${hostInUrl(host)}:${port}`;
  return {
    address: publicUrl ?? localAddress,
    localAddress,
    self: {
      host,
      // A command must not add an entry that points at the gateway which starts later.
      port: port ?? (isCommand ? configured : 0),
      publicUrl,
      mainModule: fromFileUrl(MAIN),
    },
  };
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

export type ConfigModule = Awaited<ReturnType<typeof openConfig>>;

/** The config file as it was last read without an error. */
export async function openConfig({ read, env, cwd, self, logs }: ConfigInput) {
  const { options, platform } = read;
  const log = logs.module("config");
  const location = { path: options.config, cwd, configDir: read.dirs.config };
  const files = candidateFiles(location);

  async function readServers(): Promise<LoadedServers> {
    const loaded = await loadServers({ ...location, env, self, platform });
    for (const server of [...loaded.servers, ...loaded.leftOut]) {
      logs.redactor.learn(server.secrets);
    }
    for (const problem of loaded.problems) {
      log[problem.severity === "error" ? "error" : "warn"]({}, formatProblem(problem));
    }
    return loaded;
  }

  const stamp = await stampFiles(files);
  let configured = await readServers();
  let error: string | undefined;
  for (const problem of read.problems) log.warn({}, formatProblem(problem));

  async function reload(): Promise<void> {
    try {
      configured = await readServers();
      error = undefined;
      log.info(
        { file: configured.file, servers: configured.servers.length },
        "Configuration applied",
      );
    } catch (failure) {
      error = failure instanceof Error ? failure.message : String(failure);
      log.error({}, `Cannot load the new configuration; the previous one stays in use: ${error}`);
    }
  }

  return {
    get configured() {
      return configured;
    },

    /** The files and folders that the gateway's settings and its servers' entries are in. */
    ownPlaces: [...files, ...read.dirs.config === undefined ? [] : [read.dirs.config]],

    /** Whether the file has an error, so that an earlier version stays in use. */
    get isBroken() {
      return error !== undefined;
    },

    problems(): ConfigProblem[] {
      const broken = error === undefined ? [] : [{
        severity: "error" as const,
        file: configured.file ?? files[0]!,
        line: 1,
        column: 1,
        message: `The file has an error; its previous version stays in use: ${error}`,
        fix: "Fix the error; changes apply automatically",
      }];
      return [...broken, ...read.problems, ...configured.problems];
    },

    /** Applies every change of the file, until the signal aborts. */
    follow(
      onChange: () => Promise<void>,
      options: Pick<WatchOptions, "signal" | "unwatchable">,
    ): Promise<void> {
      const changed = async () => {
        await reload();
        await onChange();
      };
      return watchFiles(files, changed, {
        ...options,
        since: stamp,
        onError: (error) => log.error({ error }, "Cannot apply the configuration"),
      });
    },
  };
}
