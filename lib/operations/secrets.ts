import * as z from "zod";
import { SecretName, secretReference, TypedSecretName } from "../core/secret_reference.ts";
import { fieldHints } from "./fields.ts";
import { DESTROYS, MANAGES, operation, READS_GUARDED } from "./operation.ts";
import { SecretsList, usersWords } from "./secrets_admin.ts";

const KnownSecret = z.string().describe("Secret name").register(fieldHints, {
  completes: "secret",
});
const UsedBy = SecretsList.shape.missing.element.shape.usedBy;

const list = operation({
  ...READS_GUARDED,
  name: "secret.list",
  title: "List secrets",
  description: "List secrets by name, with when they were set and which servers use them.",
  input: z.strictObject({}),
  output: SecretsList,
  cli: "secrets list",
  run: async ({ secrets }) => await (await secrets()).list(),
});

const set = operation({
  ...MANAGES,
  name: "secret.set",
  title: "Set a secret",
  description: "Set a secret for server entries to use. Servers that use it reconnect.",
  input: z.strictObject({
    name: TypedSecretName.describe("Secret name").register(fieldHints, { completes: "secret" }),
    value: z.string().describe("The value; it is never shown again")
      .register(fieldHints, { isHidden: true }),
  }),
  output: z.object({ set: SecretName, usedBy: UsedBy }),
  idempotent: true,
  cli: "secrets set NAME",
  async run({ secrets }, { name, value }) {
    const { usedBy } = await (await secrets()).set(name, value);
    return { set: name, usedBy };
  },
  text: ({ set, usedBy }) =>
    usedBy.length === 0
      ? `Set ${set}. To use it, write ${secretReference(set)} in a server's entry.`
      : `Set ${set}: ${usersWords(usedBy)} it.`,
});

const remove = operation({
  ...DESTROYS,
  name: "secret.delete",
  title: "Delete a secret",
  description: "Delete a secret. Servers that use it stop until it is set again.",
  input: z.strictObject({
    name: KnownSecret,
    force: z.boolean().default(false).describe("Delete it even if servers use it")
      .register(fieldHints, { isHidden: true }),
  }),
  output: z.object({ deleted: z.string(), usedBy: UsedBy }),
  cli: "secrets delete NAME",
  confirm: ({ name }) =>
    `Delete the secret ${name}? Servers that use it stop until it is set again.`,
  async run({ secrets }, { name, force }) {
    const { usedBy } = await (await secrets()).delete(name, force);
    return { deleted: name, usedBy };
  },
  text: ({ deleted, usedBy }) =>
    usedBy.length === 0
      ? `Deleted ${deleted}.`
      : `Deleted ${deleted}: ${usersWords(usedBy)} it, and stop until it is set again.`,
});

export const SECRET_OPERATIONS = { list, set, remove };
