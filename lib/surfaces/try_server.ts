import { GatewayError } from "../core/errors.ts";
import type { ServerSpec } from "../core/server.ts";
import { shortened } from "../core/shortened.ts";
import { Connection } from "../downstream/connection.ts";
import { type Link, LinkClosed, type LinkEvents } from "../downstream/link.ts";
import { listToolTexts } from "../downstream/tool_listing.ts";
import { ownCopy } from "../telemetry/call_details.ts";
import { textMasker } from "./masked_spec.ts";

const CHECK_TIMEOUT_MS = 20_000;
/** Of what a server writes while it is checked, the last lines say why it failed. */
const KEPT_LINES = 5;
const LINE_LENGTH = 500;

export interface TryServerInput {
  verb: "add" | "change";
  name: string;
  spec: ServerSpec;
  openLink(events: LinkEvents): Link | Promise<Link>;
}

/** Connects once and lists the tools; one that asks for a login will do. */
export async function tryServer({ verb, name, spec, openLink }: TryServerInput): Promise<void> {
  const mask = textMasker(spec);
  const stderr: string[] = [];
  const onLog = (line: string) => {
    // Masked before it is cut: half a secret would not be known as one.
    stderr.push(ownCopy(shortened(mask(line), LINE_LENGTH), LINE_LENGTH));
    if (stderr.length > KEPT_LINES) stderr.shift();
  };
  try {
    await using connection = await Connection.open({
      serverName: name,
      openLink,
      capabilities: {},
      connectTimeoutMs: CHECK_TIMEOUT_MS,
      events: { onMessage: () => {}, onClose: () => {}, onLog },
    });
    await listToolTexts(connection, name);
  } catch (error) {
    if (error instanceof LinkClosed && error.kind === "login") return;
    const words = mask(error instanceof Error ? error.message : String(error))
      .replace(/^Cannot start server "[^"]*": /, "");
    const wrote = mask(stderr.join("\n"));
    throw new GatewayError("SERVER_DISCONNECTED", {
      message: `Cannot ${verb} server "${name}": ${words}`,
      recoveryAction: "Check the address, or the command and its arguments",
      recoverySteps: [
        "Check the address or the command and its arguments",
        `Nothing was stored: ${verb} it again when it works`,
      ],
      ...(wrote === "" ? {} : { hint: `It wrote: ${wrote}` }),
      cause: error,
    });
  }
}
