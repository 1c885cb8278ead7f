import type { Env } from "../../config/platform.ts";
import { TransportClosed } from "../transports/transport.ts";

export interface SecretSourceContext {
  env: Env;
  /** Receives tokens before they are used, so that logs mask them. */
  learn(values: string[]): void;
  /** What the helper process loads in place of the library; for tests. */
  library?: string;
}

/** Reads some secrets of one source. Throws SecretUnavailable. */
export type OpenSecrets = (
  names: readonly string[],
  context: SecretSourceContext,
) => Promise<Map<string, string>>;

/** Why a secret cannot be read from its source, and what to do. */
export class SecretUnavailable extends TransportClosed {
  constructor(name: string, problem: string, options?: ErrorOptions) {
    super("refused", `the secret ${name}: ${problem}`, options);
  }
}
