import { GatewayHost } from "./lib/host.ts";

/** The one gateway of this process, for the program and for the pages of its console. */
export const host = new GatewayHost();
