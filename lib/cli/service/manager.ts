import { dirname, join } from "@std/path";
import type { ReadOptions } from "../../config/options.ts";
import { GatewayError } from "../../core/errors.ts";
import {
  launchdPlist,
  SERVICE,
  type ServiceDefinition,
  systemdUnit,
  windowsTask,
} from "./definition.ts";

const UNIT = `${SERVICE}.service`;

export interface ServiceManager {
  name: string;
  file: string;
  logs: string;
  note?: string;
  text(definition: ServiceDefinition): string;
  /** What to do with variables that hold secrets. */
  secrets(definition: ServiceDefinition): string;
  /** Throws, with advice, if this user's service manager cannot be reached. */
  check(): Promise<void>;
  /** Makes the definition at `file` known, and starts or restarts the service. */
  load(): Promise<void>;
  /** Stops the service and makes the manager forget it; `file` is removed by the caller. */
  unload(): Promise<void>;
  /** Cleans up after `file` has been removed. */
  forget?(): Promise<void>;
  state(): Promise<{ enabled: boolean; running: boolean }>;
}

export function serviceManager(
  { dirs: { home, config, data }, options }: Pick<ReadOptions, "dirs" | "options">,
  os: typeof Deno.build.os = Deno.build.os,
): ServiceManager {
  if (home === undefined || config === undefined) {
    throw new GatewayError("CONFIG_INVALID", {
      message: "Cannot install a service: HOME is not set",
      recoveryAction: "Set HOME",
    });
  }
  const log = join(options.dataDir ?? data ?? config, "logs", "service.log");
  if (os === "windows") return taskScheduler(config, log);
  return os === "darwin" ? launchd(home, log) : systemd(join(config, ".."));
}

function systemd(configHome: string): ServiceManager {
  const systemctl = (...args: string[]) => run("systemctl", ["--user", ...args]);
  return {
    name: "systemd",
    file: join(configHome, "systemd", "user", UNIT),
    logs: `journalctl --user -u ${UNIT}`,
    note: "It stops when you log out. To keep it running: loginctl enable-linger",
    text: systemdUnit,
    secrets: ({ envFile }) => `put it in ${envFile}`,
    async check() {
      const { ok, output } = await systemctl("show-environment");
      if (ok) return;
      throw new GatewayError("NOT_AVAILABLE_HERE", {
        message: `Cannot reach your systemd user manager: ${lastLine(output)}`,
        recoverySteps: [
          "Log in as this user directly, not through su or sudo.",
          "On a machine without logins, run `loginctl enable-linger USER` as root first.",
          "Without systemd, `quartermaster service install --print` shows the command to run.",
        ],
      });
    },
    async load() {
      await must(systemctl("daemon-reload"));
      await must(systemctl("enable", UNIT));
      await must(systemctl("restart", UNIT));
    },
    unload: () => must(systemctl("disable", "--now", UNIT)),
    async forget() {
      await systemctl("daemon-reload");
      await systemctl("reset-failed", UNIT);
    },
    async state() {
      const { ok: enabled } = await systemctl("is-enabled", UNIT);
      const { ok: running } = await systemctl("is-active", UNIT);
      return { enabled, running };
    },
  };
}

// Written from Apple's manual pages; not tried on a Mac.
function launchd(home: string, log: string): ServiceManager {
  const file = join(home, "Library", "LaunchAgents", `${SERVICE}.plist`);
  const domain = async () => `gui/${(await run("id", ["-u"])).output.trim()}`;
  const launchctl = (...args: string[]) => run("launchctl", args);
  const target = async () => `${await domain()}/${SERVICE}`;
  return {
    name: "launchd",
    file,
    logs: log,
    text: launchdPlist,
    secrets: () =>
      "set it with `launchctl setenv`, or create a token with `quartermaster token create`",
    check: async () => await must(launchctl("print", await domain())),
    async load() {
      // A loaded agent keeps its old definition until it is booted out.
      await launchctl("bootout", await target());
      await must(launchctl("bootstrap", await domain(), file));
    },
    unload: async () => {
      await launchctl("bootout", await target());
    },
    async state() {
      const { ok, output } = await launchctl("print", await target());
      return { enabled: ok, running: ok && /state = running/.test(output) };
    },
  };
}

// Written from Microsoft's documentation; not tried on Windows.
function taskScheduler(config: string, log: string): ServiceManager {
  const file = join(config, "service.xml");
  const schtasks = (...args: string[]) => run("schtasks", args);
  return {
    name: "Task Scheduler",
    file,
    logs: dirname(log),
    text: windowsTask,
    secrets: () => "set it as an environment variable of your user account",
    check: () => must(schtasks("/Query", "/FO", "LIST")),
    async load() {
      await schtasks("/End", "/TN", SERVICE);
      await must(schtasks("/Create", "/TN", SERVICE, "/XML", file, "/F"));
      await must(schtasks("/Run", "/TN", SERVICE));
    },
    async unload() {
      await schtasks("/End", "/TN", SERVICE);
      await must(schtasks("/Delete", "/TN", SERVICE, "/F"));
    },
    async state() {
      const { ok, output } = await schtasks("/Query", "/TN", SERVICE, "/FO", "LIST");
      return { enabled: ok, running: ok && /^Status:\s+Running/m.test(output) };
    },
  };
}

interface Ran {
  ok: boolean;
  output: string;
  line: string;
}

async function run(program: string, args: string[]): Promise<Ran> {
  const line = [program, ...args].join(" ");
  try {
    const { success, stdout, stderr } = await new Deno.Command(program, { args, stdin: "null" })
      .output();
    const decoder = new TextDecoder();
    return { ok: success, output: decoder.decode(stdout) + decoder.decode(stderr), line };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { ok: false, output: `${program} is not installed`, line };
  }
}

async function must(running: Promise<Ran>): Promise<void> {
  const { ok, output, line } = await running;
  if (ok) return;
  throw new GatewayError("NOT_AVAILABLE_HERE", {
    message: `\`${line}\` failed: ${lastLine(output)}`,
    recoveryAction: "Fix the reported problem, then run the command again",
  });
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}
