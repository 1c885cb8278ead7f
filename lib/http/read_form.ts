import { GatewayError } from "../core/errors.ts";
import { readBody } from "./guard.ts";

/** A small form's fields, with the body's size bounded whatever its headers say. */
export async function readForm(request: Request, maxBytes: number): Promise<URLSearchParams> {
  const type = request.headers.get("content-type") ?? "";
  if (!type.startsWith("application/x-www-form-urlencoded")) {
    throw new GatewayError("INVALID_ARGUMENTS", { message: "The request is not a form" });
  }
  return new URLSearchParams(new TextDecoder().decode(await readBody(request, maxBytes)));
}
