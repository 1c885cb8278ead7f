import { createDefine } from "fresh";
import type { Gateway } from "../gateway.ts";
import type { GatewayError } from "../core/errors.ts";
import type { AuditActor } from "../core/access.ts";
import { readForm } from "../http/request_body.ts";

/** What every request carries through the app. */
export interface State {
  gateway: Gateway;
  /** Also in the log line of the request and on error pages. */
  requestId: string;
  /** Who the request is made for. */
  principal: string;
  /** Why nothing is done for it: the console's pages show this in the place of anything else. */
  refused?: GatewayError;
  /** The browser tab's title, without the product's name. */
  title?: string;
  /** The live channel's last event before anything on the page was read. */
  madeAt?: string;
}

export const define = createDefine<State>();

/** The fields of the form that a request sends. */
export function formOf({ req, state }: { req: Request; state: State }): Promise<URLSearchParams> {
  return readForm(req, state.gateway.options.options.maxBody);
}

/** Who makes a request, and from where. */
export function callerOf(
  { state, info }: { state: { principal: string }; info: Deno.ServeHandlerInfo },
): AuditActor {
  const { remoteAddr } = info;
  return {
    principal: state.principal,
    ...("hostname" in remoteAddr ? { from: remoteAddr.hostname } : {}),
  };
}
