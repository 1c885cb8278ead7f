import { createDefine } from "fresh";
import type { Gateway } from "../compose.ts";
import type { GatewayError } from "../core/errors.ts";

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
