import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { McpRequest } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { isObject } from "../core/rpc.ts";
import { headerParameters } from "../servers/stateless_request.ts";
import { decodeHeader } from "./envelope.ts";

type Parameters = ReturnType<typeof headerParameters>["parameters"];

const known = new WeakMap<CatalogTool, Parameters>();

/**
 * Throws HEADER_MISMATCH if a header does not repeat the argument that the tool wants repeated:
 * proxies decide by such headers what to let through. Requests without headers have nothing to check.
 */
export function checkParamHeaders(tool: CatalogTool, { header, params }: McpRequest): void {
  if (!header) return;
  let parameters = known.get(tool);
  if (!parameters) known.set(tool, parameters = headerParameters([tool.text]).parameters);
  for (const { path, header: name } of parameters.get(tool.name) ?? []) {
    const value = path.reduce<unknown>(
      (at, key) => isObject(at) ? at[key] : undefined,
      params.arguments,
    );
    if (value === undefined || value === null || typeof value === "object") continue;
    const sent = header(`mcp-param-${name.toLowerCase()}`);
    const decoded = sent === null ? undefined : decodeHeader(sent);
    const isSame = decoded === String(value) ||
      (typeof value === "number" && decoded !== undefined && decoded !== "" &&
        Number(decoded) === value);
    if (isSame) continue;
    throw new GatewayError("HEADER_MISMATCH", {
      message: sent === null
        ? `The header Mcp-Param-${name} is missing: it must repeat the argument ${path.join(".")}`
        : `The header Mcp-Param-${name} does not match the argument ${path.join(".")}`,
    });
  }
}
