import type { Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";

/** Told to whoever comes with a token that is not taken, or with none. */
export function tokenRefused(message: string): GatewayError {
  return new GatewayError("TOKEN_REQUIRED", {
    message,
    recoverySteps: [
      "Ask the owner of the gateway for a token",
      "Send it as `Authorization: Bearer TOKEN`, or as QUARTERMASTER_TOKEN to the command line",
    ],
  });
}

export interface NoTokenDetails {
  /** Why one is needed, to follow "because". */
  why?: string;
  /** What tells a command which data is meant, such as "--data-dir /srv/tools". */
  place?: string;
}

/** Told where nobody can come in. */
export function noTokenYet({ why, place }: NoTokenDetails = {}): GatewayError {
  const needs = why === undefined ? "needs a token" : `needs a token because ${why},`;
  const command = ["deno task cli token create --name me --rights read,call,manage", place ?? ""];
  return new GatewayError("TOKEN_REQUIRED", {
    message: `This gateway ${needs} and has no token yet: nobody is let in`,
    recoveryAction: "Make a token",
    recoverySteps: [
      `On the machine itself: \`${command.join(" ").trim()}\``,
      "Or set QUARTERMASTER_ADMIN_TOKEN to a long random text, and start again",
    ],
  });
}

/** A token does not have a right that something needs. */
export class RightMissing extends GatewayError {
  readonly right: Right;

  constructor(right: Right, attempt: string) {
    super("ACCESS_DENIED", {
      message: `${attempt} needs a token with the right "${right}"`,
      recoverySteps: [`Ask the owner for a token that may ${right}`],
    });
    this.right = right;
  }
}
