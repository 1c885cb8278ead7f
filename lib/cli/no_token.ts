import { noTokenYet } from "../auth/grants.ts";
import type { ReadOptions } from "../config/options.ts";
import { GatewayError } from "../core/errors.ts";
import { isLoopback } from "../config/address.ts";

type Read = Pick<ReadOptions, "options" | "origins" | "platform">;

/** A gateway that lets nobody in is not started; says why it needs a token, and how to make one. */
export function noTokenToServe(read: Read): GatewayError {
  const { message, details } = noTokenYet({
    why: reasonsOf(read).join(" and "),
    place: placeOf(read),
  });
  return new GatewayError("CONFIG_INVALID", {
    ...details,
    message: `Cannot serve on ${read.options.host}: ${message}`,
  });
}

function reasonsOf({ options: { requireToken, host, publicUrl }, platform }: Read): string[] {
  const isDeployed = platform.name === "deploy";
  return [
    ...(requireToken ? ["--require-token is set"] : []),
    ...(isDeployed ? ["anybody can reach it on Deno Deploy"] : []),
    ...(isLoopback(host) || isDeployed ? [] : [`other machines can reach it on ${host}`]),
    ...(publicUrl === undefined || isLoopback(new URL(publicUrl).hostname)
      ? []
      : [`others know it as ${publicUrl}`]),
  ];
}

/** The flags with which a command works on the same data; none where it finds that by itself. */
function placeOf({ options, origins }: Read): string {
  const flags = [
    ["--data-dir", options.dataDir, origins.dataDir],
    ["--kv", options.kv, origins.kv],
  ] as const;
  return flags.flatMap(([flag, value, origin]) =>
    value !== undefined && (origin === "flag" || origin === "environment")
      ? [flag, quoted(value)]
      : []
  ).join(" ");
}

function quoted(path: string): string {
  return /[^\w@%+=:,./\\-]/.test(path) ? `"${path}"` : path;
}
