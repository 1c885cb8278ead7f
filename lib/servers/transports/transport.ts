import type { CancelSignal } from "../../core/async.ts";
import type { RpcMessage } from "../../core/rpc.ts";

/** A message that came, as text and as far as it was understood. */
export type MessageListener = (text: string, message: RpcMessage) => void;

/** One request on its way: what comes on its own stream before the answer. */
export interface Exchange {
  /**
   * Whether anything but the answer may come. Without it a transport may read the answer in one go, which
   * is much cheaper.
   */
  streams: boolean;
  /** Called for each notification or request that certainly belongs to this exchange. */
  onMessage: MessageListener;
  /** Ends the wait; the server is told by a notification of the caller's. */
  signal?: CancelSignal | undefined;
  /** Sent with this request where the transport takes headers. */
  headers?: readonly [name: string, value: string][] | undefined;
  /** Asks what the server speaks: that it is refused settles nothing about the transport. */
  isProbe?: boolean;
}

export interface TransportEvents {
  /** A notification or a request that belongs to no exchange, or to one that cannot be told. */
  onMessage: MessageListener;
  /** The transport has ended and will not come back; called once, never before the transport was opened. */
  onClose(reason: TransportClosed): void;
  /** A line for the server's log: what it wrote to stderr, or what it sent that is not a message. */
  onLog(line: string, kind: "stderr" | "warning"): void;
  /** Reports that packages are being fetched before the server can start; undefined when that is done. */
  onInstall?(reason: string | undefined): void;
}

/**
 * The wire to one server, carrying JSON-RPC as the text that came. It knows nothing of MCP's
 * methods; the connection above it shakes hands, counts ids and keeps time.
 */
export interface Transport extends AsyncDisposable {
  /** Whether a request can carry headers of its own. */
  readonly takesHeaders?: boolean;
  /** Sends a request whose id is `id`; resolves with the text of the answer to that id. */
  request(id: number, text: string, exchange: Exchange): Promise<string>;
  /**
   * Ends the wait for the answer to `id`. A transport that has this need not be given a signal with each
   * request, which costs as much as everything else it does for one.
   */
  abandon?(id: number, reason: unknown): void;
  send(text: string): Promise<void>;
  /** After the handshake: the version both sides speak (a header on HTTP). */
  setProtocolVersion(version: string): void;
}

/** Why a transport ended or could not carry a message, told apart because the remedies differ. */
export class TransportClosed extends Error {
  override readonly name = "TransportClosed";
  /**
   * `lost`: the server is gone or unreachable; `session`: it no longer knows our session, and the
   * request was not processed; `login`: it wants credentials; `refused`: it answered, but not as an
   * MCP server does; `closed`: we closed it.
   */
  readonly kind: "lost" | "session" | "login" | "refused" | "closed";

  constructor(kind: TransportClosed["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The server accepts our credentials, but requires a scope that they lack (RFC 6750). */
export class ScopeRequired extends TransportClosed {
  constructor(message: string) {
    super("refused", message);
  }
}
