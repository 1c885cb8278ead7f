import { GatewayError } from "../../../../lib/core/errors.ts";
import { readBody } from "../../../../lib/http/request_body.ts";
import { type OperationCall, runOperation } from "../../../../lib/operations/operation.ts";
import type { Services } from "../../../../lib/operations/services.ts";
import { TOOLSET_OPERATIONS } from "../../../../lib/operations/toolsets.ts";
import type { ImportReport } from "../../../../lib/operations/toolsets_admin.ts";
import { type FormError, formError } from "../../../../lib/console/errors.ts";

export interface ImportPage {
  /** The pasted text, to be corrected. */
  text: string;
  report?: ImportReport;
  error?: FormError;
}

export async function importToolsets(
  services: Services,
  request: Request,
  call: OperationCall,
): Promise<ImportPage> {
  const { importFile } = TOOLSET_OPERATIONS;
  const form = await readUpload(request, importFile.fileInput!.maxBytes);
  const file = form.get("file");
  const pasted = form.get("text");
  const text = file instanceof File && file.size > 0
    ? await file.text()
    : typeof pasted === "string"
    ? pasted
    : "";
  try {
    const input = { file: text, replace: form.has("replace") };
    return { text: "", report: await runOperation(importFile, services, input, call) };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
    return { text, error: formError(error) };
  }
}

/** A form that may hold a file, with its size bounded whatever its headers say. */
async function readUpload(request: Request, maxBytes: number): Promise<FormData> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^(multipart\/form-data|application\/x-www-form-urlencoded)\b/.test(type)) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot import: the request is not a form",
    });
  }
  const body = await readBody(request, maxBytes);
  try {
    return await new Response(body as BodyInit, { headers: { "content-type": type } }).formData();
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", { message: "Cannot import: the form is invalid" });
  }
}
