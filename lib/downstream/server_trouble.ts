import { GatewayError } from "../core/errors.ts";
import type { ServerStatus } from "../core/server.ts";
import type { LineLog } from "./line_log.ts";
import { LinkClosed } from "./link.ts";

const HELPFUL_TOOLS = ["list_servers", "get_server_logs", "restart_server"];

/** What a caller is told while there is no connection. */
export function notConnected({ name, state, reason }: ServerStatus): GatewayError {
  const message = `Server "${name}" is ${state.replace("_", " ")}: ${reason}`;
  switch (state) {
    case "disabled":
      return new GatewayError("SERVER_NOT_RUNNING", {
        message,
        recoverySteps: [`Switch "${name}" on in its entry`, "Or use a tool of another server"],
        suggestedTools: ["list_servers"],
      });
    case "needs_login":
      return new GatewayError("SERVER_DISCONNECTED", {
        message,
        recoverySteps: ["Log in to the server in the console, then try again"],
        suggestedTools: ["list_servers"],
      });
    default:
      return new GatewayError("SERVER_DISCONNECTED", {
        message,
        recoverySteps: [
          "Wait a moment: the gateway tries to reconnect by itself",
          `Look at the server's log (\`deno task cli server logs ${name}\`, or its page in the console)`,
          `Restart it (\`deno task cli server restart ${name}\`)`,
        ],
        suggestedTools: HELPFUL_TOOLS,
      });
  }
}

/** What a caller is told whose call the server was lost with. */
export function lostInCall(name: string, error: LinkClosed): GatewayError {
  // Programs that ended name themselves.
  const message = error.message.includes(`"${name}"`)
    ? error.message
    : `Server "${name}": ${error.message}`;
  return new GatewayError("SERVER_DISCONNECTED", {
    message,
    recoverySteps: [
      "Check whether the call has had its effect, if it changes anything",
      "Try again: the gateway reconnects by itself",
      `If it happens again, restart "${name}"`,
    ],
    suggestedTools: HELPFUL_TOOLS,
    cause: error,
  });
}

/** Why a connection could not be made, with what the server wrote about it where it said nothing else. */
export function troubleWords(error: unknown, log: LineLog): string {
  const words = error instanceof Error ? error.message : String(error);
  const last = log.last(1)[0]?.line;
  const isSilent = error instanceof GatewayError && error.code === "TIMEOUT";
  return isSilent && last !== undefined ? `${words}. It last wrote: ${last.slice(0, 300)}` : words;
}

export function isLoginWanted(error: unknown): boolean {
  return error instanceof LinkClosed && error.kind === "login";
}

/** Whether the server refused a call because it no longer knows our session: it can be repeated. */
export function isSessionLost(error: unknown): boolean {
  const loss = error instanceof GatewayError ? error.cause : error;
  return loss instanceof LinkClosed && loss.kind === "session";
}
