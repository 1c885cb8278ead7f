import { GatewayError } from "../core/errors.ts";
import { isLoopback } from "./guard.ts";

export interface Incoming {
  req: Request;
  info: Deno.ServeHandlerInfo;
}

/**
 * Whether a request comes from this machine itself. To run a program of the caller's choice is to
 * hand over the machine, so that neither a neighbor in the network nor a proxy's guest may ask it.
 */
export function isFromHere({ req, info }: Incoming, ownHost: string): boolean {
  const peer = "hostname" in info.remoteAddr ? info.remoteAddr.hostname : "";
  const named = new URL(`http://${req.headers.get("host")}`).hostname;
  const isOwn = (host: string) => {
    const plain = host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:/, "");
    return isLoopback(plain) || plain === ownHost;
  };
  const isForwarded = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"]
    .some((name) => req.headers.has(name));
  return isOwn(peer) && isOwn(named) && !isForwarded;
}

/** Told to whoever may not have a program started. */
export function notFromHere(): GatewayError {
  return new GatewayError("ACCESS_DENIED", {
    message: "A program can only be added from the machine it will run on",
    recoveryAction: "Add it on the gateway's own machine",
    recoverySteps: [
      "Use the gateway's local address, on the machine itself",
      "Or `deno task cli server add NAME -- COMMAND ARGS` there",
      "Or name it in the config file",
    ],
  });
}
