import { setTimeout as sleep } from "node:timers/promises";
import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import { oneNameOf } from "./arguments.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import type { LoginClient } from "./login_client.ts";
import { openBrowser } from "./open_browser.ts";
import { resolveGateways } from "./servers_access.ts";
import { inert, isInteractive, print, printError, printJson } from "./terminal.ts";

const POLL_MS = 500;
const DEFAULT_WAIT_S = 300;
/** As long as the gateway waits for an answer. */
const LONGEST_WAIT_S = 600;
const SECRET_LENGTH = 2_000;

export const serverLogin: Command = {
  usage: "server login NAME",
  meaning: "Log in to a server that asks for it (OAuth), in your browser",
  details: [
    "Prints the address to log in at, opens it where there is a terminal, and waits.",
    "A client id is needed only where the authorization server registers no clients by itself.",
    "",
    "Example:",
    "  deno task cli server login issues",
  ],
  flags: [
    { flag: "client-id", placeholder: "ID", meaning: "A client id you were given" },
    { flag: "client-secret-stdin", meaning: "Read the client's secret from standard input" },
    { flag: "no-browser", meaning: "Only print the address" },
    {
      flag: "wait",
      placeholder: "SECONDS",
      meaning: `How long to wait for you; ${DEFAULT_WAIT_S} by default`,
    },
    JSON_FLAG,
  ],
  async run(input) {
    const name = oneNameOf("server", "server login", input);
    const client = await readClient(input);
    const waitMs = readWait(input) * 1_000;
    const asJson = input.flags.get("json") === true;
    const [gateway] = await resolveGateways(input);
    const logins = gateway!.client.logins();
    const { url, attempt } = await logins.start(name, client);
    // With --json the result alone is on standard output.
    const say = asJson ? printError : print;
    say(inert(`Log in here:\n\n  ${url}\n\n`));
    const opens = isInteractive() && input.flags.get("no-browser") !== true;
    if (opens && openBrowser(url)) say("It was opened in your browser.\n");
    say("Waiting for the login ...\n");
    const server = await waitFor(logins, name, attempt, waitMs);
    if (asJson) return printJson({ server });
    print(inert(`Logged in to ${name} (${server.state.replace("_", " ")}): ${server.reason}\n`));
    return server.state === "ready" ? 0 : 1;
  },
};

async function waitFor(logins: LoginClient, name: string, attempt: string, waitMs: number) {
  for (const end = Date.now() + waitMs; Date.now() < end; await sleep(POLL_MS)) {
    const { server, attempt: { outcome } } = await logins.standing(name, attempt);
    if (outcome?.kind === "failed") {
      throw new GatewayError("LOGIN_FAILED", {
        message: `Not logged in to "${name}": ${outcome.reason}`,
      });
    }
    // It is being connected to with what the login gave.
    if (outcome?.kind === "done" && server.state !== "connecting") return server;
  }
  throw new GatewayError("TIMEOUT", {
    message: `Nobody logged in to "${name}" within ${waitMs / 1_000} s`,
    recoverySteps: [
      "The address that was printed works for 10 minutes: a login there is still taken up",
      "Or begin again, with a longer --wait",
    ],
  });
}

async function readClient(
  { flags }: CommandInput,
): Promise<{ clientId?: string; clientSecret?: string }> {
  const clientId = flags.get("client-id");
  const hasSecret = flags.get("client-secret-stdin") === true;
  if (typeof clientId !== "string") {
    if (hasSecret) throw configError("A client secret needs its id", "Give it with --client-id");
    return {};
  }
  if (!hasSecret) return { clientId };
  // Not as an argument: everybody on the machine can read those.
  const clientSecret = (await readInput()).trim();
  if (clientSecret === "" || clientSecret.length > SECRET_LENGTH) {
    throw configError("No client secret came on standard input", "Write it there, on one line");
  }
  return { clientId, clientSecret };
}

async function readInput(): Promise<string> {
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
