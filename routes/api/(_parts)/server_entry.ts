import { z } from "zod";
import type { Gateway } from "../../../lib/compose.ts";
import { RemoteServer, type ServerSpec, StdioServer } from "../../../lib/core/server.ts";
import { isFromHere, notFromHere } from "../../../lib/http/from_here.ts";
import { refuseSecretsFromElsewhere } from "../../../lib/surfaces/secret_consent.ts";
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
  const isHere = isFromHere(incoming, options.host);
  if (spec.type === "stdio" && !isHere) throw notFromHere();
  refuseSecretsFromElsewhere(spec, isHere);
  return { name, spec };
}
