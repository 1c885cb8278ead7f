import { type Audit, composeAudit } from "../compose_audit.ts";
import { type Env, nonEmpty } from "../config/env.ts";
import type { Store } from "../storage/store.ts";
import { Redactor } from "../telemetry/redact.ts";

export interface CommandAudit {
  stack: AsyncDisposableStack;
  store: Store;
  env: Env;
  redactor?: Redactor;
}

/** Notes what a command changes in the store itself; written when the stack is taken down. */
export function commandAudit({ redactor = new Redactor(), env, ...parts }: CommandAudit): Audit {
  const user = nonEmpty(env, "USER") ?? nonEmpty(env, "LOGNAME") ?? nonEmpty(env, "USERNAME");
  return composeAudit({
    ...parts,
    redactor,
    nameOf: () => user ?? "owner",
    origin: {
      principal: "owner",
      from: () => user === undefined ? "command line" : `command line, ${user}`,
    },
    // The command itself fails where its store does.
    onWarning: () => {},
  });
}
