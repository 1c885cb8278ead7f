import { TimeoutQueue } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import type { StatelessCall } from "./stateless_call.ts";

const PATIENCE_MS = 1_000;
/** How long a call waits for the client to come back with its answers. */
const HOLD_MS = 10 * 60_000;
const PREFIX = "quartermaster.";

/** Who makes a retry, and what of; both must be the same as of the call that was held. */
export interface Retry {
  endpoint: string;
  principal: string;
  fingerprint: string;
}

/**
 * Calls that wait for their client's answers. A client gets a request state for each, which cannot be
 * guessed and works once: it continues the call, and never makes it again.
 */
export class HeldCalls implements Disposable {
  readonly #instance = crypto.randomUUID().slice(0, 8);
  readonly #calls = new Map<string, StatelessCall>();
  readonly #limits: TimeoutQueue;
  /**
   * How long an answer may take before it comes on a stream, which has no status of its own: the
   * revision wants 400 and 404 for some errors, and has no streams that can be resumed.
   */
  readonly patience = new TimeoutQueue(PATIENCE_MS);

  constructor(holdMs = HOLD_MS) {
    this.#limits = new TimeoutQueue(holdMs);
  }

  /** Whether a request state was made by a gateway; all others are their servers' business. */
  static isOurs(state: unknown): state is string {
    return typeof state === "string" && state.startsWith(PREFIX);
  }

  /** Keeps a call, and returns the state that continues it. */
  hold(call: StatelessCall): string {
    const secret = crypto.getRandomValues(new Uint8Array(24)).toBase64({ alphabet: "base64url" });
    const state = `${PREFIX}${this.#instance}.${secret}`;
    this.#calls.set(state, call);
    const limit = this.#limits.add(() => {
      this.#calls.delete(state);
      call.cancel("The client did not come back with its answers");
    });
    call.onTaken = () => {
      this.#calls.delete(state);
      this.#limits.delete(limit);
    };
    return state;
  }

  /** The call that waits under a state; throws INVALID_PARAMS if it is not the caller's, or gone. */
  take(state: string, { endpoint, principal, fingerprint }: Retry): StatelessCall {
    const call = this.#calls.get(state);
    // Somebody else's call is as unknown as one that never was.
    if (call?.session.endpoint !== endpoint || call.session.principal !== principal) {
      throw this.#unknown(state);
    }
    if (call.fingerprint !== fingerprint) {
      throw new GatewayError("INVALID_PARAMS", {
        message: "The request state belongs to a call with another method, name or arguments",
        recoverySteps: [
          "Send the request that was answered with this state, with the answers added",
        ],
      });
    }
    call.onTaken();
    return call;
  }

  [Symbol.dispose](): void {
    this.#limits[Symbol.dispose]();
    this.patience[Symbol.dispose]();
    this.#calls.clear();
  }

  #unknown(state: string): GatewayError {
    const isFromHere = state.startsWith(`${PREFIX}${this.#instance}.`);
    return new GatewayError("INVALID_PARAMS", {
      message: isFromHere
        ? "No call waits under this request state: it was already continued, or has expired"
        : "No call waits under this request state: another gateway made it, or this one before a " +
          "restart",
      recoveryAction: "Check what the call has done before you make it again",
      recoverySteps: [
        "Check whether the call took effect: it may have run",
        "Make the call again without a request state",
      ],
    });
  }
}
