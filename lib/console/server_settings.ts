import { GatewayError } from "../core/errors.ts";
import type { ServerSpec } from "../core/server.ts";

/** A server's headers or variables, one a line, as a form shows them. */
export function settingsText(spec: ServerSpec): string {
  switch (spec.type) {
    case "stdio":
      return Object.entries(spec.env).map(([name, value]) => `${name}=${value}`).join("\n");
    case "demo":
      return "";
    default:
      return Object.entries(spec.headers).map(([name, value]) => `${name}: ${value}`).join("\n");
  }
}

/** An entry with the headers or variables that were written beside it. */
export function withSettings(spec: ServerSpec, text: string, folder = ""): ServerSpec {
  const lines = text.split(/\r?\n/).map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "");
  switch (spec.type) {
    case "stdio":
      return {
        ...spec,
        env: { ...spec.env, ...pairs(lines, /^([^=\s]+)=(.*)$/s, "NAME=value") },
        ...(folder === "" ? {} : { cwd: folder }),
      };
    case "demo":
      return spec;
    default:
      if (folder !== "") {
        throw new GatewayError("INVALID_ARGUMENTS", {
          message: "A server with an address has no folder",
          recoveryAction: "Leave the folder empty",
        });
      }
      return {
        ...spec,
        headers: { ...spec.headers, ...pairs(lines, /^([^:\s]+):\s*(.*)$/s, "Name: value") },
      };
  }
}

function pairs(
  lines: readonly { line: string; number: number }[],
  form: RegExp,
  written: string,
): Record<string, string> {
  return Object.fromEntries(lines.map(({ line, number }) => {
    const [, name, value] = form.exec(line) ?? [];
    if (name !== undefined && value !== undefined) return [name, value];
    // Not with the text itself: it may be a secret that is written wrongly.
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Line ${number} under headers and variables cannot be read`,
      recoveryAction: `Write it as ${written}`,
    });
  }));
}
