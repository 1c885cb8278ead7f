import { GatewayError } from "../core/errors.ts";

/** How large one message of a server's may be, in bytes. */
export const MESSAGE_LIMIT = 16 * 1024 * 1024;

/** What `answeredId()` needs of each end of a text. */
export const END_CHARS = 64;

/** What a caller is told whose answer is not taken; the server is well, and only this call failed. */
export function tooLarge(serverName: string): GatewayError {
  return new GatewayError("LIMIT_EXCEEDED", {
    message:
      `Server "${serverName}" answered with a message of over 16 MiB: no larger one is taken`,
    recoveryAction: "Ask for less at once",
    recoverySteps: [
      "Ask for a part of it: a page, a range, a narrower filter",
      "Or use another tool that answers with less",
    ],
  });
}

/**
 * The id of the request that a text answers, told from its two ends alone: in the ways SDKs print an
 * envelope, the members found there can only be the envelope's own.
 */
export function answeredId(head: string, tail: string): number | undefined {
  const id = /^\{(?:"jsonrpc":"2\.0",)?"id":(\d+),"(?:result|error)":/.exec(head)?.[1] ??
    (/^\{"(?:result|error)":/.test(head)
      ? /,"jsonrpc":"2\.0","id":(\d+)\}\s*$/.exec(tail)?.[1]
      : undefined);
  return id === undefined ? undefined : Number(id);
}
