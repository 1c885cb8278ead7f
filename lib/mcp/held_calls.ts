import { type Timeout, TimeoutQueue } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import type { StatelessCall } from "./stateless_call.ts";

const PATIENCE_MS = 1_000;
/** How long a call waits for the client to come back with its answers. */
const HOLD_MS = 10 * 60_000;

/** The caller and the request of a retry; both must match those of the held call. */
export interface Retry {
  endpoint: string;
  principal: string;
  fingerprint: string;
}

interface HeldCallsOptions {
  /** The same after a restart. */
  gatewayId?: string | undefined;
  holdMs?: number | undefined;
}

/**
 * Calls that wait for their client's answers. A client gets a request state for each, which cannot be
 * guessed and works once: it continues the call, and never makes it again.
 */
export class HeldCalls implements Disposable {
  /** Of all states that gateways on this store issue; another gateway may be one of the servers. */
  readonly #prefix: string;
  readonly #instance = crypto.randomUUID().slice(0, 8);
  readonly #calls = new Map<string, { call: StatelessCall; limit: Timeout }>();
  readonly #limits: TimeoutQueue;
  /**
   * How long an answer may take before it comes on a stream, which has no status of its own: the
   * revision wants 400 and 404 for some errors, and has no streams that can be resumed.
   */
  readonly patience = new TimeoutQueue(PATIENCE_MS);

  constructor({ gatewayId = crypto.randomUUID(), holdMs = HOLD_MS }: HeldCallsOptions = {}) {
    this.#prefix = `quartermaster.${gatewayId}.`;
    this.#limits = new TimeoutQueue(holdMs);
  }

  /** Whether a request state was issued by this gateway; servers know all others. */
  isOurs(state: unknown): state is string {
    return typeof state === "string" && state.startsWith(this.#prefix);
  }

  /** Keeps a call, and returns the state that continues it. */
  hold(call: StatelessCall): string {
    const secret = crypto.getRandomValues(new Uint8Array(24)).toBase64({ alphabet: "base64url" });
    const state = `${this.#prefix}${this.#instance}.${secret}`;
    const limit = this.#limits.add(() => {
      this.#calls.delete(state);
      call.cancel("The client did not send its answers in time");
    });
    this.#calls.set(state, { call, limit });
    return state;
  }

  /** The call that waits under a state; throws INVALID_PARAMS if it is not the caller's, or gone. */
  take(state: string, { endpoint, principal, fingerprint }: Retry): StatelessCall {
    const { call, limit } = this.#calls.get(state) ?? {};
    // Somebody else's call is as unknown as one that never was.
    if (!limit || call?.session.endpoint !== endpoint || call.session.principal !== principal) {
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
    this.#calls.delete(state);
    this.#limits.delete(limit);
    return call;
  }

  [Symbol.dispose](): void {
    this.#limits[Symbol.dispose]();
    this.patience[Symbol.dispose]();
    this.#calls.clear();
  }

  #unknown(state: string): GatewayError {
    const isFromHere = state.startsWith(`${this.#prefix}${this.#instance}.`);
    return new GatewayError("INVALID_PARAMS", {
      message: isFromHere
        ? "Unknown request state: it was already used, or has expired"
        : "Unknown request state: it was issued by another gateway, or before a restart",
      recoveryAction: "Check whether the call took effect before retrying",
      recoverySteps: [
        "Check whether the call took effect: it may have run",
        "Make the call again without a request state",
      ],
    });
  }
}
