import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import { usersWords } from "../surfaces/secrets_admin.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { oneSecret, openSecrets } from "./secrets_store.ts";
import { ask, isInteractive, print, printJson } from "./terminal.ts";

export const secretsDelete: Command = {
  usage: "secrets delete NAME [--yes]",
  meaning: "Delete a secret; asks where servers use it, which stop until it is set again",
  flags: [{ flag: "yes", meaning: "Do not ask; needed where there is no terminal" }, JSON_FLAG],
  async run(input) {
    const name = oneSecret("secrets delete", input);
    const asJson = input.flags.get("json") === true;
    await using opened = await openSecrets(input);
    const { admin } = opened;
    const users = await admin.usersOf(name);
    const isKnown = (await admin.list()).secrets.some((secret) => secret.name === name);
    if (isKnown && users.length > 0 && input.flags.get("yes") !== true) {
      if (asJson || !isInteractive()) {
        throw configError(
          `secrets delete cannot ask here, and ${usersWords(users)} ${name}`,
          "Give --yes to delete it all the same",
        );
      }
      if (!ask(`Delete the secret ${name}? ${capital(usersWords(users))} it.`)) {
        throw new GatewayError("ACCESS_DENIED", { message: `The secret ${name} was not deleted` });
      }
    }
    const { usedBy } = await admin.delete(name, { force: true });
    if (asJson) return printJson({ deleted: name, usedBy });
    print(
      usedBy.length === 0
        ? `Deleted ${name}.\n`
        : `Deleted ${name}: ${usersWords(usedBy)} it, and stop until it is set again.\n`,
    );
  },
};

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
