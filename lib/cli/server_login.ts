import { setTimeout as sleep } from "node:timers/promises";
import type { CommandFlag } from "../config/command_line.ts";
import { configError } from "../config/files.ts";
import { GatewayError } from "../core/errors.ts";
import { isStarting } from "../core/server.ts";
import { LOGIN_OPERATIONS } from "../operations/server_logins.ts";
import type { Status } from "../operations/servers.ts";
import type { CommandInput } from "./command.ts";
import { readInput } from "./operation_command.ts";
import { openTarget, type OperationTarget } from "./operation_target.ts";
import { inert, isInteractive, print, printError, printJson } from "./terminal.ts";

const POLL_MS = 500;
const DEFAULT_WAIT_S = 300;
/** As long as the gateway waits for an answer. */
const LONGEST_WAIT_S = 600;
const SECRET_LENGTH = 2_000;

export const LOGIN_FLAGS: CommandFlag[] = [
  { flag: "client-secret-stdin", meaning: "Read the client's secret from standard input" },
  { flag: "no-browser", meaning: "Only print the address" },
  {
    flag: "wait",
    placeholder: "SECONDS",
    meaning: `How long to wait for you; ${DEFAULT_WAIT_S} by default`,
  },
];

/** `server login`: prints where to log in, opens it, and waits for the person. */
export async function runLogin(input: CommandInput): Promise<number> {
  const { name, clientId } = await readInput(LOGIN_OPERATIONS.login, input);
  const clientSecret = await readSecret(input, clientId);
  const waitMs = readWait(input) * 1_000;
  const asJson = input.flags.get("json") === true;
  await using gateway = await openTarget(input, true);
  const client = { ...(clientId === undefined ? {} : { clientId }), ...clientSecret };
  const { login: { url, attempt } } = await gateway.run(LOGIN_OPERATIONS.login, {
    name,
    ...client,
  });
  // With --json the result alone is on standard output.
  const say = asJson ? printError : print;
  say(inert(`Log in here:\n\n  ${url}\n\n`));
  const opens = isInteractive() && input.flags.get("no-browser") !== true;
  if (opens && openBrowser(url)) say("It was opened in your browser.\n");
  say("Waiting for the login ...\n");
  const server = await waitFor(gateway, String(name), attempt, waitMs);
  if (asJson) {
    printJson({ server });
    return 0;
  }
  print(inert(`Logged in to ${name} (${server.state.replace("_", " ")}): ${server.reason}\n`));
  return server.state === "ready" ? 0 : 1;
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
        message: `Not logged in to "${name}": ${outcome.reason}`,
      });
    }
    // It is being connected to with what the login gave.
    if (outcome?.kind === "done" && !isStarting(server.state)) return server;
  }
  throw new GatewayError("TIMEOUT", {
    message: `Nobody logged in to "${name}" within ${waitMs / 1_000} s`,
    recoverySteps: [
      "The printed URL works for 10 minutes: you can still log in there",
      "Or begin again, with a longer --wait",
    ],
  });
}

async function readSecret(
  { flags }: CommandInput,
  clientId: unknown,
): Promise<{ clientSecret?: string }> {
  if (flags.get("client-secret-stdin") !== true) return {};
  if (clientId === undefined) {
    throw configError("A client secret needs its id", "Give it with --client-id");
  }
  // Not as an argument: everybody on the machine can read those.
  const clientSecret = (await readLine()).trim();
  if (clientSecret === "" || clientSecret.length > SECRET_LENGTH) {
    throw configError("No client secret came on standard input", "Write it there, on one line");
  }
  return { clientSecret };
}

async function readLine(): Promise<string> {
  let text = "";
  for await (const part of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    text += part;
    // A terminal does not end by itself.
    if (text.includes("\n") || text.length > SECRET_LENGTH + 1) break;
  }
  return text.split("\n")[0] ?? "";
}

function readWait({ flags }: CommandInput): number {
  const given = flags.get("wait") ?? String(DEFAULT_WAIT_S);
  const seconds = Number(given);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= LONGEST_WAIT_S) return seconds;
  throw configError(
    `Cannot use --wait "${given}"`,
    `Give a whole number of seconds from 1 to ${LONGEST_WAIT_S}`,
  );
}

/** Programs that open an address, each with what comes before it. Never a shell: it would read on. */
const OPENERS: Record<string, [command: string, ...args: string[]]> = {
  linux: ["xdg-open"],
  darwin: ["open"],
  windows: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** How to open an address on a system, or undefined where there is no way or it is none for a browser. */
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
