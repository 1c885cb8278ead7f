import type { CancelSignal } from "../core/cancellation.ts";
import { GatewayError } from "../core/errors.ts";
import type { RpcId } from "../core/rpc.ts";

/** A client as it introduced itself. */
export interface ClientIdentity {
  protocolVersion: string;
  capabilities: Record<string, unknown>;
  clientInfo?: Record<string, unknown> | undefined;
}

/** The way from a surface to its client. */
export interface ClientPort {
  readonly client: ClientIdentity;
  /** Who the client acts for. */
  readonly principal: string;
  /** The door it came to, where it came to one. */
  readonly door?: string;
  /** The address it connected from when its session was made, or `stdio`. */
  readonly from?: string | undefined;
  /** Sends a notification outside of any request. */
  push(text: string): void;
  /**
   * Makes a server's request known under an id of the session's; the client's answer comes back
   * under the server's own id. Returns the text to send.
   */
  ask(text: string, id: RpcId, onAnswer: (text: string) => void): string;
}

/** One request of a client's. */
export interface RequestScope {
  id: RpcId;
  method: string;
  params: Record<string, unknown>;
  /** The whole message as it came. */
  text: string;
  /** Aborts when the client cancels or goes away. */
  signal: CancelSignal;
  /** Who asks, where that is not who the session was made for; for the record. */
  principal?: string;
  /** The tool that was called, once that is known; for the record. */
  target?: { server: string; name: string };
  /** When the server got the call by the process's clock, and how long it had it; for the record. */
  atServer?: { start: number; ms: number };
  /** Sends what belongs to this request, before its answer. */
  send(text: string): void;
}

/** What one client has open at a surface. */
export interface SurfaceSession extends AsyncDisposable {
  /** Resolves with the whole answer, or throws what went wrong. */
  request(scope: RequestScope): Promise<string>;
  notify(method: string, params: Record<string, unknown>, text: string): void;
  /** Whether the client would see other tools than when it last listed them; it may where missing. */
  isListChanged?(): boolean;
}

/** What a door shows. */
export interface Surface {
  /** The result of initialize but for the protocol version, which the session negotiates. */
  introduce(): Promise<Record<string, unknown>>;
  open(port: ClientPort): SurfaceSession;
}

/** The name a tools/call is for; a call without one is no proper request. */
export function toolNameOf({ name }: Record<string, unknown>): string {
  if (typeof name === "string") return name;
  throw new GatewayError("INVALID_PARAMS", { message: "tools/call needs the name of a tool" });
}
