import type { Asker } from "../surfaces/login_admin.ts";

/** Who makes a request, and from where. */
export function askerOf(
  { state, info }: { state: { principal: string }; info: Deno.ServeHandlerInfo },
): Asker {
  const { remoteAddr } = info;
  return {
    principal: state.principal,
    ...("hostname" in remoteAddr ? { from: remoteAddr.hostname } : {}),
  };
}
