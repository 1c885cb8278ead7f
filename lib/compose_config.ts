import type { Env } from "./config/env.ts";
import { candidateFiles } from "./config/locate.ts";
import { type LoadedServers, loadServers, type LoadServersInput } from "./config/mcp_file.ts";
import type { ReadOptions } from "./config/options.ts";
import { formatProblem, type Problem } from "./config/problem.ts";
import { stampFiles, watchFiles } from "./config/watch_files.ts";
import type { Logs } from "./telemetry/logs.ts";

export interface ComposeConfigInput {
  read: ReadOptions;
  env: Env;
  cwd: string;
  self: LoadServersInput["self"];
  logs: Logs;
}

export interface FollowOptions {
  signal: AbortSignal;
  /** A folder in which nothing may be watched. */
  unwatchable: string | undefined;
}

/** What the config file names, as it was last read without an error. */
export async function composeConfig({ read, env, cwd, self, logs }: ComposeConfigInput) {
  const { options, platform } = read;
  const log = logs.room("config");
  const location = { path: options.config, cwd, configDir: read.dirs.config };
  const files = candidateFiles(location);

  async function readServers(): Promise<LoadedServers> {
    const loaded = await loadServers({ ...location, env, self, platform });
    for (const server of loaded.servers) logs.redactor.learn(server.secrets);
    for (const problem of loaded.problems) {
      log[problem.severity === "error" ? "error" : "warn"](formatProblem(problem));
    }
    return loaded;
  }

  const stamp = await stampFiles(files);
  let configured = await readServers();
  /** Why the file as it is now is not in use, if it is not. */
  let error: string | undefined;
  for (const problem of read.problems) log.warn(formatProblem(problem));

  async function reload(): Promise<void> {
    try {
      configured = await readServers();
      error = undefined;
      log.info(
        { file: configured.file, servers: configured.servers.length },
        "Configuration taken up",
      );
    } catch (failure) {
      error = failure instanceof Error ? failure.message : String(failure);
      log.error(`The configuration stays as it was: ${error}`);
    }
  }

  return {
    get configured(): LoadedServers {
      return configured;
    },

    get isBroken(): boolean {
      return error !== undefined;
    },

    problems(): Problem[] {
      const broken = error === undefined ? [] : [{
        severity: "error" as const,
        file: configured.file ?? files[0]!,
        line: 1,
        column: 1,
        message: `The file is not in use as it is now: ${error}`,
        fix: "Correct it; the change is taken up by itself",
      }];
      return [...broken, ...read.problems, ...configured.problems];
    },

    /** Takes up every change, until the signal. */
    follow(onChange: () => Promise<void>, { signal, unwatchable }: FollowOptions): Promise<void> {
      const changed = async () => {
        await reload();
        await onChange();
      };
      return watchFiles(files, changed, {
        since: stamp,
        signal,
        unwatchable,
        onError: (error) => log.error({ error }, "Cannot take up the configuration"),
      });
    },
  };
}
