import { GatewayError } from "../core/errors.ts";
import { EVERYONE, ownerOf } from "../core/access.ts";
import { secretNames } from "../core/secret_reference.ts";
import { isRemote, type ServerSpec } from "../core/server.ts";

/**
 * The author of an entry decides where its secrets go, so neither a neighbor on the network nor a
 * guest behind a proxy may name one.
 */
export function refuseSecretsFromElsewhere(spec: ServerSpec, isFromHere: boolean): void {
  const names = shownNames(spec);
  if (isFromHere || names.length === 0) return;
  throw new GatewayError("ACCESS_DENIED", {
    message: `The secret ${names[0]} can be given to a server only from the gateway's own machine`,
    recoverySteps: [
      "If the gateway has no --public-url, open the console at its local address on that machine",
      "Or add the server to the config file there",
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
  { confirm, principal }: {
    principal: string;
    /** Asks the person behind the client to agree; undefined if the client cannot ask. */
    confirm?: ((message: string) => Promise<boolean>) | undefined;
  },
): Promise<void> {
  const names = shownNames(spec);
  // With a program the owner sees them beside its command line.
  if (names.length === 0 || !isRemote(spec)) return;
  refuseSecretsFromElsewhere(spec, ownerOf(principal) === EVERYONE);
  const { host } = new URL(spec.url);
  const secrets = names.length === 1 ? `the secret ${names[0]}` : `the secrets ${names.join(", ")}`;
  if (await confirm?.(`${what}.\nIt will send ${secrets} to ${host}`)) return;
  throw new GatewayError("ACCESS_DENIED", {
    message: confirm
      ? `The user did not agree to send ${secrets} to ${host}`
      : `Sending ${secrets} to ${host} requires the user's consent, and this client cannot ask for it`,
    recoveryAction: "Ask the user to add the server on the gateway's own machine",
    recoverySteps: [
      "Ask the user to run `quartermaster server add NAME --url URL --header ...`",
      "Or to add it to the config file",
    ],
  });
}

/** Quoted if they have spaces: whatever follows in a question must not look like a part of it. */
function shownNames(spec: ServerSpec): string[] {
  return secretNames(spec).map((name) => name.includes(" ") ? `"${name}"` : name);
}
