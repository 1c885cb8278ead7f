import { GatewayHost } from "./lib/cli/gateway_host.ts";

/** The one gateway of this process, for the program and for the pages of its console. */
export const host = new GatewayHost(async () => (await import("./lib/console/ui/jobs.ts")).jobNews);
