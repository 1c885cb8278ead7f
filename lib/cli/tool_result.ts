import type { ToolResult } from "./servers_access.ts";

/** A tool's answer for a person to read: text as it is, everything else described in a line. */
export function contentText({ content, structuredContent }: ToolResult): string {
  if (content.length === 0 && structuredContent !== undefined) {
    return `${JSON.stringify(structuredContent, null, 2)}\n`;
  }
  return content.map(blockText).map((text) => text.endsWith("\n") ? text : `${text}\n`).join("");
}

function blockText(block: Record<string, unknown>): string {
  const { type, text, data, mimeType, uri, name, description } = block;
  switch (type) {
    case "text":
      return String(text ?? "");
    case "image":
    case "audio":
      return `[${type}: ${mimeType ?? "of no known type"}, ${sizeOf(data)}]`;
    case "resource_link":
      return `[link: ${name ?? uri} <${uri}>${
        description === undefined ? "" : `, ${description}`
      }]`;
    case "resource": {
      const resource = (block.resource ?? {}) as Record<string, unknown>;
      const kind = resource.mimeType === undefined ? "" : `, ${resource.mimeType}`;
      if (typeof resource.text !== "string") {
        return `[resource: ${resource.uri}${kind}, ${sizeOf(resource.blob)}]`;
      }
      return `[resource: ${resource.uri}${kind}]\n${resource.text}`;
    }
    default:
      return `[${type}: ${JSON.stringify(block).slice(0, 200)}]`;
  }
}

/** How many bytes a base64 text stands for. */
function sizeOf(base64: unknown): string {
  const bytes = typeof base64 === "string"
    ? Math.floor(base64.replace(/[^A-Za-z0-9+/_-]/g, "").length * 3 / 4)
    : 0;
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KiB`;
}
