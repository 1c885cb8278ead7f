import { z } from "zod";
import type { Gateway } from "../../../lib/compose.ts";
import { RemoteServer, type ServerSpec, StdioServer } from "../../../lib/core/server.ts";
import { serverAsker } from "../../../lib/http/from_here.ts";
import { KEPT } from "../../../lib/surfaces/changed_spec.ts";
import { withoutKeptReferences } from "../../../lib/surfaces/masked_spec.ts";
import { refuseSecretsFromElsewhere } from "../../../lib/surfaces/secret_consent.ts";
import type { ServerAsker } from "../../../lib/surfaces/server_asker.ts";
import { fit, readJson } from "./read_json.ts";

const Entry = z.discriminatedUnion("type", [StdioServer, RemoteServer]);
const Fields = z.looseObject({ name: z.string().optional() });
const Version = z.string().optional();

export interface Incoming {
  req: Request;
  info: Deno.ServeHandlerInfo;
  state: { gateway: Gateway; principal: string };
}

interface EntryRead {
  name: string | undefined;
  /** Of the entry that the change was made from. */
  version: string | undefined;
  spec: ServerSpec;
  by: ServerAsker;
}

/**
 * A server's entry as a body names it: `command` makes it a program, `url` a remote one. What it
 * refers to of secrets is looked at in the light of the entry that it would replace, if any.
 */
export async function readEntry(
  incoming: Incoming,
  replaced?: string,
): Promise<EntryRead> {
  const { gateway } = incoming.state;
  const { maxBody } = gateway.options.options;
  const { name, ...fields } = await readJson(incoming.req, Fields, maxBody);
  let version: string | undefined;
  if (replaced !== undefined) {
    version = fit(Version, fields.version);
    delete fields.version;
  }
  // What a change leaves out stays: null says that it is to go.
  const gone = replaced === undefined ? [] : KEPT.filter((key) => fields[key] === null);
  for (const key of gone) delete fields[key];
  const spec: ServerSpec = {
    ...fit(Entry, { type: "command" in fields ? "stdio" : "http", ...fields }),
    ...Object.fromEntries(gone.map((key) => [key, undefined])),
  };
  const by = serverAsker(incoming, "api");
  if (by.isHere || replaced === undefined) {
    refuseSecretsFromElsewhere(spec, by.isHere);
    return { name, version, spec, by };
  }
  const { spec: shown } = await gateway.admin.read(replaced, version);
  const kept = withoutKeptReferences(spec, shown);
  refuseSecretsFromElsewhere(withoutKeptPlaces(kept, shown), by.isHere);
  return { name, version, spec: kept, by };
}

/** Without the command line or the address, where it is the one that is there already. */
function withoutKeptPlaces(wanted: ServerSpec, shown: ServerSpec): ServerSpec {
  if (wanted.type === "stdio") {
    const words = ({ command, args, cwd }: typeof wanted) => JSON.stringify([command, args, cwd]);
    const isSame = shown.type === "stdio" && words(shown) === words(wanted);
    return isSame ? { ...wanted, args: [] } : wanted;
  }
  const isSame = "url" in wanted && "url" in shown && shown.url === wanted.url;
  return isSame ? { ...wanted, url: "" } : wanted;
}
