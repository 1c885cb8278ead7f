import { GatewayError } from "../core/errors.ts";
import { readBody } from "./guard.ts";

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
    message: "There is no file in the form",
    recoveryAction: "Choose a file, then send the form again",
  });
}
