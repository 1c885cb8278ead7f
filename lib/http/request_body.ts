import { GatewayError } from "../core/errors.ts";
import type { TimeoutQueue } from "../core/async.ts";
import type { HttpRequest } from "./exchange.ts";

/** How long a request's body may take to arrive. */
export const BODY_MS = 30_000;
const ORDINARY_BODY = 4 * 1024 * 1024;

/**
 * The whole body; PAYLOAD_TOO_LARGE as soon as it passes the limit, whatever it had declared, and
 * REQUEST_TIMEOUT where it does not arrive in time: nobody may hold a place by sending nothing.
 */
export async function readBody(
  request: HttpRequest,
  maxBytes: number,
  limitMs = bodyLimitMs(maxBytes),
): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void reader.cancel().catch(() => {});
  }, limitMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) throw tooLate(limitMs);
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes) throw bodyTooLarge(maxBytes);
      chunks.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => {});
    throw isLate ? tooLate(limitMs) : error;
  } finally {
    clearTimeout(timer);
  }
  return chunks.length === 1
    ? chunks[0]!
    : new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

/** A body of a declared length as text, by a clock that many share; throws REQUEST_TIMEOUT. */
export function readTextInTime(request: HttpRequest, clock: TimeoutQueue): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const wait = clock.add(() => reject(tooLate(BODY_MS)));
  request.text().then((text) => {
    clock.delete(wait);
    resolve(text);
  }, (error) => {
    clock.delete(wait);
    reject(error);
  });
  return promise;
}

/** A file may take longer: a second for each quarter of a megabyte over what others may send. */
function bodyLimitMs(maxBytes: number): number {
  return BODY_MS + Math.max(0, maxBytes - ORDINARY_BODY) / 256 / 1024 * 1000;
}

function tooLate(limitMs: number): GatewayError {
  return new GatewayError("REQUEST_TIMEOUT", {
    message: `The request's body did not arrive within ${Math.round(limitMs / 1000)} s`,
  });
}

export function bodyTooLarge(limit: number): GatewayError {
  return new GatewayError("PAYLOAD_TOO_LARGE", {
    message: `The request's body is over the limit of ${limit} bytes`,
  });
}

/** A small form's fields, with the body's size bounded whatever its headers say. */
export async function readForm(request: Request, maxBytes: number): Promise<URLSearchParams> {
  const type = request.headers.get("content-type") ?? "";
  if (!type.startsWith("application/x-www-form-urlencoded")) {
    throw new GatewayError("INVALID_ARGUMENTS", { message: "The request is not a form" });
  }
  return new URLSearchParams(new TextDecoder().decode(await readBody(request, maxBytes)));
}

const MIB = 1024 * 1024;

/** Held in memory while it is read: a larger one is for the command line. */
export const MAX_BACKUP_BYTES = 64 * MIB;

/** What takes files, and how large they may be. */
export const UPLOADS: ReadonlyMap<string, number> = new Map([
  ["/settings/restore", MAX_BACKUP_BYTES],
]);

/** Whether a request is a form with a file. */
export function isUpload(request: Request): boolean {
  return (request.headers.get("content-type") ?? "").startsWith("multipart/form-data");
}

/** The file of a form's field; its size is bounded whatever the request's headers say. */
export async function readUpload(request: Request, field: string, maxBytes: number): Promise<File> {
  const bytes = await readBody(request, maxBytes);
  const headers = { "content-type": request.headers.get("content-type") ?? "" };
  let value: FormDataEntryValue | null;
  try {
    value = (await new Response(bytes as BodyInit, { headers }).formData()).get(field);
  } catch (cause) {
    throw new GatewayError("INVALID_ARGUMENTS", { message: "The request is not a form", cause });
  }
  // A form that was sent without a choice has a file without a name.
  if (value instanceof File && (value.size > 0 || value.name !== "")) return value;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: "The form contains no file",
    recoveryAction: "Choose a file, then send the form again",
  });
}
