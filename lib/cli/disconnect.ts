import { CLIENT_NAMES, type ClientConfigFile } from "../config/clients.ts";
import { editFile, findTextFile } from "../config/files.ts";
import { valueAt, withValueAt } from "../config/json_edit.ts";
import {
  fileLabel,
  filesOf,
  isInSection,
  isOwnEntry,
  oneClient,
  scopeOf,
  selfOf,
  serversIn,
} from "./client_files.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import { listGateways } from "./operation_target.ts";
import { print, printJson } from "./terminal.ts";

interface Removal {
  file: ClientConfigFile;
  names: string[];
  backup?: string;
}

export const disconnect: Command = {
  usage: "disconnect CLIENT [--write]",
  meaning: "Take this gateway out of a client's config again",
  details: [
    "Without --write nothing is changed: what would be removed is printed. Only entries that point",
    "at this gateway are, and a copy of the file as it was is kept beside it.",
  ],
  flags: [
    { flag: "name", placeholder: "NAME", meaning: "Only the entry of this name" },
    {
      flag: "scope",
      placeholder: "SCOPE",
      meaning: "Only user, or only project (default: both)",
    },
    { flag: "write", meaning: "Change the client's config file" },
    JSON_FLAG,
  ],
  async run(input) {
    const client = oneClient("disconnect", input);
    const scope = scopeOf(client, input);
    const isWriting = input.flags.get("write") === true;
    const files = filesOf(client, input).filter((file) => !scope || file.scope === scope);
    const removals: Removal[] = [];
    for (const file of files) {
      const names = await ownNames(file, input);
      if (names.length === 0) continue;
      const edit = isWriting ? await remove(file, names) : undefined;
      removals.push({ file, names, ...(edit?.backup ? { backup: edit.backup } : {}) });
    }
    if (input.flags.get("json") === true) {
      return printJson({
        client,
        written: isWriting && removals.length > 0,
        removed: removals.map(({ file, ...rest }) => ({
          file: file.path,
          scope: file.scope,
          ...rest,
        })),
      });
    }
    if (removals.length === 0) {
      return print(`Nothing to remove: ${CLIENT_NAMES[client]} does not use this gateway.\n`);
    }
    for (const { file, names, backup } of removals) {
      const listed = names.map((name) => `"${name}"`).join(", ");
      print(`${isWriting ? "Removed" : "Would remove"} ${listed} from ${file.path}`);
      print(` (${fileLabel(file)}).\n`);
      if (backup !== undefined) print(`What it was before is in ${backup}.\n`);
    }
    if (!isWriting) print("The same command with --write does it.\n");
  },
};

async function ownNames(file: ClientConfigFile, input: CommandInput): Promise<string[]> {
  const [gateway] = await listGateways(input);
  const servers = await serversIn(file, input, selfOf(input, gateway?.address)) ?? [];
  const text = await findTextFile(file.path) ?? "";
  const only = input.flags.get("name");
  return servers
    .filter((server) => isInSection(server, file) && isOwnEntry(server))
    .map(({ writtenAs }) => writtenAs)
    .filter((name) => only === undefined || name === only)
    .filter((name) => valueAt(text, file.path, [file.section, name]) !== undefined);
}

function remove(file: ClientConfigFile, names: string[]) {
  return editFile(
    file.path,
    (text) =>
      names.reduce(
        (text, name) => withValueAt(text, file.path, [file.section, name], undefined),
        text,
      ),
  );
}
