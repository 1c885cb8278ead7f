import { z } from "zod";
import type { Gateway } from "../../../lib/compose.ts";
import { RemoteServer, type ServerSpec, StdioServer } from "../../../lib/core/server.ts";
import { serverAsker } from "../../../lib/http/from_here.ts";
import { refuseSecretsFromElsewhere } from "../../../lib/surfaces/secret_consent.ts";
import type { ServerAsker } from "../../../lib/surfaces/server_asker.ts";
import { fit, readJson } from "./read_json.ts";

const Entry = z.discriminatedUnion("type", [StdioServer, RemoteServer]);
const Fields = z.looseObject({ name: z.string().optional() });

export interface Incoming {
  req: Request;
  info: Deno.ServeHandlerInfo;
  state: { gateway: Gateway; principal: string };
}

/** A server's entry as a body names it: `command` makes it a program, `url` a remote one. */
export async function readEntry(
  incoming: Incoming,
): Promise<{ name: string | undefined; spec: ServerSpec; by: ServerAsker }> {
  const { options } = incoming.state.gateway.options;
  const { name, ...fields } = await readJson(incoming.req, Fields, options.maxBody);
  const spec = fit(Entry, { type: "command" in fields ? "stdio" : "http", ...fields });
  const by = serverAsker(incoming, "api");
  refuseSecretsFromElsewhere(spec, by.isHere);
  return { name, spec, by };
}
