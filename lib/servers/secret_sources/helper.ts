import * as z from "zod";
import { builtFile } from "../../core/product.ts";
import { parseJson } from "../../core/rpc.ts";
import { npmProgram } from "../processes/npm_program.ts";
import type { SecretRequest } from "./secret_helper.ts";
import { type SecretSourceContext, SecretUnavailable } from "./source.ts";

const PROGRAM = builtFile("lib/servers/secret_sources/secret_helper.ts");
const KEYRING = "npm:@napi-rs/keyring@2.1.2";
/** The first use fetches the library. */
const HELPER_MS = 55_000;

const Answer = z.union([
  z.strictObject({ values: z.array(z.string().min(1)) }),
  z.strictObject({ name: z.string(), problem: z.string() }),
]);

/** Secrets of the operating system's keychain, `keychain:NAME`, of the service `quartermaster` only. */
export function openKeychain(
  names: readonly string[],
  { library = KEYRING }: SecretSourceContext,
): Promise<Map<string, string>> {
  return runSecretHelper({
    request: { source: "keychain", library, names: [...names] },
    // Where Linux programs find the Secret Service.
    passed: /^(DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR)$/,
    permissions: ["--allow-read", "--allow-env", "--allow-ffi"],
    advice: "store it there, and make sure that the gateway's user has an unlocked keychain",
  });
}

/**
 * Reads secrets in a process that ends afterwards: native code and large libraries need permissions
 * and memory that the gateway does not spend on them.
 */
export async function runSecretHelper({ request, permissions, passed = /^$/, advice }: {
  request: SecretRequest;
  permissions: readonly string[];
  passed?: RegExp;
  /** What to do if it fails. */
  advice: string;
}): Promise<Map<string, string>> {
  const [first = ""] = request.names;
  const limit = AbortSignal.timeout(HELPER_MS);
  let output: Uint8Array;
  try {
    const child = new Deno.Command(Deno.execPath(), {
      ...npmProgram({ program: PROGRAM, permissions, passed }),
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
      signal: limit,
    }).spawn();
    // Not an argument: those are visible to every program on the machine.
    const send = new Blob([JSON.stringify(request)]).stream().pipeTo(child.stdin).catch(() => {});
    ({ stdout: output } = await child.output());
    await send;
  } catch (error) {
    throw new SecretUnavailable(first, "the program that reads it cannot be started here", {
      cause: error,
    });
  }
  // The library may print, too.
  const last = new TextDecoder().decode(output).trimEnd().split("\n").at(-1) ?? "";
  const { data: answer } = Answer.safeParse(parseJson(last));
  if (answer && "values" in answer) {
    const { values } = answer;
    return new Map(request.names.map((name, at) => [name, values[at] ?? ""]));
  }
  const problem = answer?.problem ??
    (limit.aborted ? `no answer within ${HELPER_MS / 1_000} s` : "the program that reads it ended");
  throw new SecretUnavailable(answer?.name ?? first, `${problem}: ${advice}`);
}
