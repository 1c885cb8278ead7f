/** Why a connection is refused, and what to do about it. */
export const NOT_PERMITTED =
  "Deno does not permit the gateway to connect to this host; with --harden, add the server to the " +
  "config file and restart the gateway, or start it without --harden";

/** Whether Deno permits this process to connect to a host, at any port. */
export function mayConnect(hostname: string): boolean {
  const host = hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
  return Deno.permissions.querySync({ name: "net", host }).state === "granted";
}
