import { errorMessage, GatewayError } from "../core/errors.ts";
import type { ServerSpec } from "../core/server.ts";
import { shortened } from "../core/text.ts";
import { Connection } from "../servers/connection.ts";
import {
  type Transport,
  TransportClosed,
  type TransportEvents,
} from "../servers/transports/transport.ts";
import { listToolTexts } from "../servers/tool_list.ts";
import { ownCopy } from "../telemetry/call_recorder.ts";
import { textMasker } from "../servers/spec.ts";

const CHECK_TIMEOUT_MS = 60_000;
/** Of what a server writes while it is checked, the last lines say why it failed. */
const KEPT_LINES = 5;
const LINE_LENGTH = 500;

/** Connects once and returns the listed tools; one that asks for a login will do. */
export async function tryServer(
  verb: "add" | "change" | "update",
  name: string,
  spec: ServerSpec,
  openTransport: (events: TransportEvents, signal: AbortSignal) => Transport | Promise<Transport>,
): Promise<string[]> {
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
      openTransport,
      capabilities: {},
      startTimeoutMs: spec.startTimeoutMs ?? CHECK_TIMEOUT_MS,
      events: { onMessage: () => {}, onClose: () => {}, onLog },
    });
    return await listToolTexts(connection, name);
  } catch (error) {
    if (error instanceof TransportClosed && error.kind === "login") return [];
    if (error instanceof GatewayError && error.code === "PACKAGE_CHANGED") throw error;
    const words = mask(errorMessage(error)).replace(/^Cannot start server "[^"]*": /, "");
    const wrote = mask(stderr.join("\n"));
    throw new GatewayError("SERVER_DISCONNECTED", {
      message: `Cannot ${verb} server "${name}": ${words}`,
      recoveryAction: "Check the URL, or the command and its arguments",
      recoverySteps: [
        "Check the URL, or the command and its arguments",
        `Nothing was stored: ${verb} the server again once it works`,
      ],
      ...(wrote === "" ? {} : { hint: `Output: ${wrote}` }),
      cause: error,
    });
  }
}
