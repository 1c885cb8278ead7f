import type { SecretsList } from "../surfaces/secrets_admin.ts";
import { noPositionals } from "./arguments.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import { openSecrets } from "./secrets_store.ts";
import { cutToWidth, painter, print, printJson, table } from "./terminal.ts";

export const secretsList: Command = {
  usage: "secrets list",
  meaning: "Names of all secrets, when they were set and which servers use them",
  flags: [JSON_FLAG],
  async run(input) {
    noPositionals("secrets list", input);
    await using opened = await openSecrets(input);
    const list = await opened.admin.list();
    if (input.flags.get("json") === true) return printJson(list);
    print(listText(list, input));
  },
};

function listText(
  { secrets, missing, unavailable }: SecretsList,
  { env }: Pick<CommandInput, "env">,
): string {
  const paint = painter(env);
  const notes = [
    ...(unavailable === undefined ? [] : [`${unavailable}\n`]),
    ...(secrets.length + missing.length > 0
      ? []
      : ["There are no secrets. Set one with `deno task cli secrets set NAME`.\n"]),
  ].join("");
  if (secrets.length + missing.length === 0) return notes;
  const heading = ["NAME", "SET", "USED BY"].map((word) => paint("gray", word));
  const usedBy = (names: string[]) => names.length === 0 ? "no server" : names.join(", ");
  const rows = [
    ...secrets.map((secret) => [
      secret.name,
      new Date(secret.setAt).toISOString().slice(0, 16).replace("T", " "),
      usedBy(secret.usedBy) +
      (secret.problem === undefined ? "" : `; ${paint("red", secret.problem)}`),
    ]),
    ...missing.map((secret) => [secret.name, paint("red", "not set"), usedBy(secret.usedBy)]),
  ];
  return notes + cutToWidth(table([heading, ...rows]));
}
