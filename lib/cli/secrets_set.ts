import { GatewayError } from "../core/errors.ts";
import { SecretName, secretReference } from "../core/secret_reference.ts";
import { usersWords } from "../surfaces/secrets_admin.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { readHidden, readPiped } from "./secrets_input.ts";
import { oneSecret, openSecrets } from "./secrets_store.ts";
import { print, printJson } from "./terminal.ts";

export const secretsSet: Command = {
  usage: "secrets set NAME",
  meaning: "Set a secret; its value comes from standard input, or is asked for without an echo",
  details: [
    "Examples:",
    "  deno task cli secrets set GITHUB_TOKEN",
    "  pass show github | deno task cli secrets set GITHUB_TOKEN",
    "",
    "A server's entry refers to it by ${secret:GITHUB_TOKEN} in args, env, headers or url.",
    "The servers that use it are connected anew.",
  ],
  flags: [JSON_FLAG],
  async run(input) {
    const name = oneSecret("secrets set", input);
    const parsed = SecretName.safeParse(name);
    if (!parsed.success) {
      // Not with the name itself: the value may have been written in its place.
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: `Cannot set the secret: ${parsed.error.issues[0]?.message}`,
        recoverySteps: ["Write it as: deno task cli secrets set NAME"],
      });
    }
    const value = Deno.stdin.isTerminal()
      ? await readHidden(`Value of ${name} (not shown): `)
      : await readPiped(Deno.stdin.readable);
    await using opened = await openSecrets(input);
    const { usedBy } = await opened.admin.set(name, value);
    if (input.flags.get("json") === true) return printJson({ set: name, usedBy });
    print(
      usedBy.length === 0
        ? `Set ${name}. Refer to it by ${secretReference(name)} in a server's entry.\n`
        : `Set ${name}: ${usersWords(usedBy)} it.\n`,
    );
  },
};
