import { runSecretHelper } from "./helper.ts";
import type { SecretSourceContext } from "./source.ts";

const LIBRARY = "npm:@napi-rs/keyring@2.1.2";

/** Secrets of the operating system's keychain, `keychain:NAME`, of the service `quartermaster` only. */
export function openKeychain(
  names: readonly string[],
  { library = LIBRARY }: SecretSourceContext,
): Promise<Map<string, string>> {
  return runSecretHelper({
    request: { source: "keychain", library, names: [...names] },
    // Where Linux programs find the Secret Service.
    passed: /^(DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR)$/,
    permissions: ["--allow-read", "--allow-env", "--allow-ffi"],
    advice: "store it there, and unlock the keychain for the gateway's user",
  });
}
