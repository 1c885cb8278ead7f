import { z } from "zod";
import type { Gateway } from "../../../lib/compose.ts";
import { GatewayError } from "../../../lib/core/errors.ts";
import { RemoteServer, type ServerSpec, StdioServer } from "../../../lib/core/server.ts";
import { isLoopback } from "../../../lib/http/guard.ts";
import { fit, readJson } from "./read_json.ts";

const Entry = z.discriminatedUnion("type", [StdioServer, RemoteServer]);
const Fields = z.looseObject({ name: z.string().optional() });

export interface Incoming {
  req: Request;
  info: Deno.ServeHandlerInfo;
  state: { gateway: Gateway };
}

/** A server's entry as a body names it: `command` makes it a program, `url` a remote one. */
export async function readEntry(
  incoming: Incoming,
): Promise<{ name: string | undefined; spec: ServerSpec }> {
  const { options } = incoming.state.gateway.options;
  const { name, ...fields } = await readJson(incoming.req, Fields, options.maxBody);
  const spec = fit(Entry, { type: "command" in fields ? "stdio" : "http", ...fields });
  if (spec.type === "stdio" && !isFromHere(incoming, options.host)) {
    throw new GatewayError("ACCESS_DENIED", {
      message: "A program can only be added from the machine it will run on",
      recoveryAction: "Add it on the gateway's own machine",
      recoverySteps: [
        "Use the gateway's local address, on the machine itself",
        "Or `deno task cli server add NAME -- COMMAND ARGS` there",
        "Or name it in the config file",
      ],
    });
  }
  return { name, spec };
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
