import { configError } from "../config/problem.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { inert, print, printJson } from "./terminal.ts";
import { openAccess } from "./token_store.ts";

export const tokenRevoke: Command = {
  usage: "token revoke NAME|ID",
  meaning: "End a token for good, at every gateway on this data, with what was opened by it",
  flags: [JSON_FLAG],
  async run(input) {
    const [named, ...others] = input.positionals;
    if (named === undefined || others.length > 0) {
      throw configError(
        "token revoke takes the name or the id of one token",
        "See deno task cli token list",
      );
    }
    await using opened = await openAccess(input);
    const token = await opened.admin.revokeToken(named);
    if (input.flags.get("json") === true) return printJson({ revoked: token });
    print(inert(`Revoked ${token.name} (${token.id}).\n`));
  },
};
