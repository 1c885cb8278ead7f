import { setTimeout as sleep } from "node:timers/promises";
import type { CommandFlag } from "../config/command_line.ts";
import { wholeNumber } from "../config/option_values.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { isStarting } from "../core/server.ts";
import { LOGIN_OPERATIONS } from "../operations/server_logins.ts";
import type { Status } from "../operations/servers.ts";
import { readSecretValue } from "./access_commands.ts";
import type { CommandInput, CommandOutcome } from "./command.ts";
import { readInput } from "./operation_command.ts";
import { openTarget, type OperationTarget } from "./operation_target.ts";
import { valueOf } from "./server_flags.ts";
import { inert, isInteractive, print, printError } from "./terminal.ts";

const POLL_MS = 500;
const DEFAULT_WAIT_S = 300;
/** As long as the gateway waits for an answer. */
const LONGEST_WAIT_S = 600;

export const LOGIN_FLAGS: CommandFlag[] = [
  { flag: "client-secret-stdin", meaning: "Read the client secret from stdin" },
  { flag: "no-browser", meaning: "Only print the URL" },
  {
    flag: "wait",
    placeholder: "SECONDS",
    meaning: `How long to wait for the login (default: ${DEFAULT_WAIT_S})`,
  },
];

/** `server login`: prints where to log in, opens it, and waits for the person. */
export async function runLogin(input: CommandInput): Promise<CommandOutcome> {
  const { flags } = input;
  const { name, clientId } = await readInput(LOGIN_OPERATIONS.login, input);
  // Not as an argument: everybody on the machine can read those.
  const clientSecret = flags.get("client-secret-stdin")
    ? (await readSecretValue("Client secret")).trim()
    : undefined;
  const seconds = valueOf(flags, "wait", wholeNumber(1, LONGEST_WAIT_S)) ?? DEFAULT_WAIT_S;
  await using gateway = await openTarget(input, true);
  const { login: { url, attempt } } = await gateway.run(LOGIN_OPERATIONS.login, {
    name,
    ...defined({ clientId, clientSecret }),
  });
  // With --json, standard output has nothing but the result.
  const say = flags.get("json") ? printError : print;
  say(inert(`Log in here:\n\n  ${url}\n\n`));
  const opens = isInteractive() && !flags.get("no-browser");
  if (opens && openBrowser(url)) say("The page is open in your browser.\n");
  say("Waiting for the login ...\n");
  const server = await waitFor(gateway, String(name), attempt, seconds * 1_000);
  const { state, reason } = server;
  return {
    data: { server },
    text: inert(`Logged in to ${name} (${state.replace("_", " ")}): ${reason}\n`),
    exitCode: state === "ready" || flags.get("json") ? 0 : 1,
  };
}

async function waitFor(
  gateway: OperationTarget,
  name: string,
  attempt: string,
  waitMs: number,
): Promise<Status> {
  for (const end = Date.now() + waitMs; Date.now() < end; await sleep(POLL_MS)) {
    const standing = await gateway.run(LOGIN_OPERATIONS.status, { name, attempt });
    const { server, attempt: { outcome } } = standing;
    if (outcome?.kind === "failed") {
      throw new GatewayError("LOGIN_FAILED", {
        message: `Cannot log in to "${name}": ${outcome.reason}`,
      });
    }
    // It is being connected to with what the login gave.
    if (outcome?.kind === "done" && !isStarting(server.state)) return server;
  }
  throw new GatewayError("TIMEOUT", {
    message: `The login to "${name}" was not completed within ${waitMs / 1_000} s`,
    recoverySteps: [
      "Open the printed URL and log in; it is valid for 10 minutes",
      "Or start again with a longer --wait",
    ],
  });
}

/** Programs that open an address, each with what comes before it. Never a shell: it would read on. */
const OPENERS: Record<string, [command: string, ...args: string[]]> = {
  linux: ["xdg-open"],
  darwin: ["open"],
  windows: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** How to open an address on a system; undefined if there is no way, or it is not for a browser. */
export function openerFor(
  os: string,
  address: string,
): { command: string; args: string[] } | undefined {
  const url = URL.parse(address);
  const opener = OPENERS[os];
  if (url === null || !/^https?:$/.test(url.protocol) || opener === undefined) return undefined;
  const [command, ...args] = opener;
  return { command, args: [...args, url.href] };
}

export function openBrowser(address: string, os: string = Deno.build.os): boolean {
  const opener = openerFor(os, address);
  if (opener === undefined) return false;
  try {
    const child = new Deno.Command(opener.command, {
      args: opener.args,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    // The browser may outlive this command.
    child.unref();
    return true;
  } catch {
    return false;
  }
}
