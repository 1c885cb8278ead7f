import { GatewayError } from "../core/errors.ts";
import type { ServerSource } from "../core/server.ts";

/** Throws where a server's entry is not one that was added at run time, and says where it is. */
export function refuseUnchangeable(name: string, source: ServerSource): void {
  if (source.kind === "file") {
    throw new GatewayError("ACCESS_DENIED", {
      message: `Server "${name}" belongs to a file: change it there`,
      recoverySteps: [`Edit ${source.path}; changes apply automatically`],
    });
  }
  if (source.kind === "demo") {
    throw new GatewayError("ACCESS_DENIED", {
      message: "The demo server cannot be changed, only removed",
    });
  }
}
