import { type Audit, openAudit } from "../telemetry/audit.ts";
import { type Env, nonEmpty } from "../config/platform.ts";
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
  return openAudit({
    ...parts,
    redactor,
    nameOf: () => userOf(env) ?? "owner",
    origin: { principal: "owner", from: () => commandPlace(env) },
    // The command itself fails where its store does.
    onWarning: () => {},
  });
}

/** Where a command's changes come from, for the audit log. */
export function commandPlace(env: Env): string {
  const user = userOf(env);
  return user === undefined ? "command line" : `command line, ${user}`;
}

function userOf(env: Env): string | undefined {
  return nonEmpty(env, "USER") ?? nonEmpty(env, "LOGNAME") ?? nonEmpty(env, "USERNAME");
}
