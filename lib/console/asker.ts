import type { AuditAsker } from "../core/audit.ts";

/** Who makes a request, and from where. */
export function askerOf(
  { state, info }: { state: { principal: string }; info: Deno.ServeHandlerInfo },
): AuditAsker {
  const { remoteAddr } = info;
  return {
    principal: state.principal,
    ...("hostname" in remoteAddr ? { from: remoteAddr.hostname } : {}),
  };
}
