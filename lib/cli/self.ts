import { fromFileUrl } from "@std/path";
import { MAIN } from "../core/product.ts";
import type { GatewayIdentity } from "../config/loops.ts";
import type { CommandInput } from "./command.ts";

/** The gateway of this checkout as an entry in a config could point at it. */
export function selfOf(
  { options }: Pick<CommandInput, "options">,
  address?: string,
): GatewayIdentity {
  const port = address === undefined ? options.port : Number(new URL(address).port || 80);
  return { host: options.host, port, publicUrl: options.publicUrl, mainModule: mainModule() };
}

export function mainModule(): string {
  return fromFileUrl(MAIN);
}
