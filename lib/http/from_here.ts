import type { ServerAsker } from "../surfaces/server_asker.ts";
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

/** A request with what is known of who makes it. */
export interface Asking extends Incoming {
  state: { principal: string; gateway: { options: { options: { host: string } } } };
}

/** Who asks for a server, and whether it is for them to run programs. */
export function serverAsker(asking: Asking, via: "api" | "console"): ServerAsker {
  const { req, info, state } = asking;
  const peer = "hostname" in info.remoteAddr ? info.remoteAddr.hostname : "";
  // Anybody can write this; where a proxy is in between it is all there is.
  const forwarded = req.headers.get("x-forwarded-for") ?? req.headers.get("forwarded");
  return {
    via,
    principal: state.principal,
    from: forwarded === null ? peer : `${peer}, forwarded for ${forwarded.slice(0, 100)}`,
    isHere: isFromHere(asking, state.gateway.options.options.host),
  };
}
