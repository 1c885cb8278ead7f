import type { ConsentOrigin } from "../storage/consents_repository.ts";

/** Who wants a server added or changed, and what is theirs to decide. */
export interface ServerAsker extends ConsentOrigin {
  /** Sits at this machine, at the console or the command line: may name programs and any address. */
  isHere: boolean;
  /** Of one who does not: a person at this machine has seen the program and agreed. */
  hasAgreed?: boolean;
}

/** Whoever did not say: may run nothing, and reach nothing private. */
export const SOMEBODY: ServerAsker = { via: "api", isHere: false };

/** A command line on the gateway's own data. */
export const AT_COMMAND_LINE: ServerAsker = { via: "cli", isHere: true };
