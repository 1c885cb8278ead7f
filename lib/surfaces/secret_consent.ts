import { GatewayError } from "../core/errors.ts";
import { EVERYONE, ownerOf } from "../core/principal.ts";
import { secretNames } from "../core/secret_reference.ts";
import type { ServerSpec } from "../core/server.ts";
import type { ToolContext } from "./builtin_tool.ts";

/**
 * Whoever writes an entry decides where the secrets in it go, so that neither a neighbor in the
 * network nor a proxy's guest may name one.
 */
export function refuseSecretsFromElsewhere(spec: ServerSpec, isFromHere: boolean): void {
  const names = secretNames(spec);
  if (isFromHere || names.length === 0) return;
  throw new GatewayError("ACCESS_DENIED", {
    message: `The secret ${names[0]} can only be given to a server from the gateway's own machine`,
    recoverySteps: [
      "Use the gateway's local address, on the machine itself, unless it has a --public-url",
      "Or name the server in the config file there",
    ],
  });
}

/**
 * A model's word is not enough to send a secret to an address: a person has to agree. Of a caller
 * with a token nobody knows whether that person owns this machine.
 */
export async function agreeToSecrets(
  what: string,
  spec: ServerSpec,
  { confirm, principal }: Pick<ToolContext, "confirm" | "principal">,
): Promise<void> {
  const names = secretNames(spec);
  // With a program the owner sees them beside its command line.
  if (names.length === 0 || !("url" in spec)) return;
  refuseSecretsFromElsewhere(spec, ownerOf(principal) === EVERYONE);
  const { host } = new URL(spec.url);
  const secrets = names.length === 1 ? `the secret ${names[0]}` : `the secrets ${names.join(", ")}`;
  if (await confirm?.(`${what}.\nIt will send ${secrets} to ${host}`)) return;
  throw new GatewayError("ACCESS_DENIED", {
    message: confirm
      ? `The user did not agree to send ${secrets} to ${host}`
      : `Sending ${secrets} to ${host} needs the user's consent, and this client cannot ask for it`,
    recoveryAction: "Ask the user to add the server on the machine itself",
    recoverySteps: [
      "Ask the user to run `deno task cli server add NAME --url URL --header ...`",
      "Or to name it in the config file",
    ],
  });
}
