import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import { readBody } from "../http/guard.ts";
import type { ImportReport } from "../surfaces/toolsets_admin.ts";

export interface ImportPage {
  /** What was pasted, so that it can be corrected. */
  text: string;
  report?: ImportReport;
  error?: { message: string; steps: string[] };
}

/** One toolset as a file to keep, or all of them. */
export async function exportResponse(
  gateway: Pick<Gateway, "toolsets">,
  name?: string,
): Promise<Response> {
  const file = await gateway.toolsets.export(name === undefined ? undefined : [name]);
  return new Response(`${JSON.stringify(file, undefined, 2)}\n`, {
    headers: {
      "content-type": "application/json",
      "content-disposition": `attachment; filename="${name ?? "toolsets"}.json"`,
      "cache-control": "no-store",
    },
  });
}

/** Saves what was pasted or chosen as a file, and tells what came of it. */
export async function importToolsets(
  gateway: Pick<Gateway, "toolsets">,
  request: Request,
  maxBytes: number,
): Promise<ImportPage> {
  const form = await readUpload(request, maxBytes);
  const file = form.get("file");
  const pasted = form.get("text");
  const text = file instanceof File && file.size > 0
    ? await file.text()
    : typeof pasted === "string"
    ? pasted
    : "";
  try {
    const value = parseJson(text);
    const report = await gateway.toolsets.import(value, { replace: form.has("replace") });
    return { text: "", report };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
    return {
      text,
      error: { message: error.message, steps: error.details.recoverySteps ?? [] },
    };
  }
}

function parseJson(text: string): unknown {
  if (text.trim() === "") {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "There is nothing to import",
      recoverySteps: ["Paste an export, or choose a file"],
    });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot import toolsets: this is not valid JSON",
      recoverySteps: ["Paste the whole file, from its first brace to its last"],
    });
  }
}

/** A form that may hold a file, with its size bounded whatever its headers say. */
async function readUpload(request: Request, maxBytes: number): Promise<FormData> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^(multipart\/form-data|application\/x-www-form-urlencoded)\b/.test(type)) {
    throw new GatewayError("INVALID_ARGUMENTS", { message: "The request is not a form" });
  }
  const body = await readBody(request, maxBytes);
  try {
    return await new Response(body as BodyInit, { headers: { "content-type": type } }).formData();
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", { message: "The form cannot be read" });
  }
}
