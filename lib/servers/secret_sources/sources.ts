import { openKeychain } from "./helper.ts";
import { openOnePassword } from "./one_password.ts";
import type { OpenSecrets, SecretSourceContext } from "./source.ts";
import { openVault } from "./vault.ts";

/** By the beginning of a secret's name. */
const SOURCES: Record<string, OpenSecrets> = {
  "keychain:": openKeychain,
  "vault:": openVault,
  "op:": openOnePassword,
};

/** The values of secrets that are kept outside the gateway, read now. */
export async function openElsewhere(
  names: readonly string[],
  context: SecretSourceContext,
): Promise<Map<string, string>> {
  const found = await Promise.all(
    Object.entries(SOURCES).map(async ([prefix, open]) => {
      const own = names.filter((name) => name.startsWith(prefix));
      return own.length === 0 ? [] : [...await open(own, context)];
    }),
  );
  return new Map(found.flat());
}
