import * as z from "zod";
import type { OnAudit } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { isStoredSecret, secretNames } from "../core/secret_reference.ts";
import type { ServerSpec } from "../core/server.ts";
import { otherKeyWarnings, type SealedNames } from "../storage/backup_contents.ts";
import { checkSecret, type SecretsRepository } from "../storage/secrets_repository.ts";

const UsedBy = z.array(z.string()).describe("Servers whose entries use it");

/** Secrets as they are shown: without their values. */
export const SecretsList = z.object({
  secrets: z.array(z.object({
    name: z.string(),
    setAt: z.number().describe("In ms since the epoch"),
    usedBy: UsedBy,
    problem: z.string().exactOptional().describe("Why the secret cannot be used"),
  })),
  missing: z.array(z.object({ name: z.string(), usedBy: UsedBy }))
    .describe("Secrets that entries use but that are not set"),
  unavailable: z.string().exactOptional().describe("Why secrets cannot be set here"),
});
export type SecretsList = z.infer<typeof SecretsList>;

export interface SecretsAdminOptions {
  repository: SecretsRepository;
  /** The id of the key that secrets are sealed with; throws where there is none. */
  keyId(): Promise<string>;
  /** Every server there is. */
  servers(): Promise<{ name: string; spec: ServerSpec }[]>;
  /** Hears of a value before it is kept, so that it is written nowhere. */
  learn?(values: string[]): void;
  /** Loads the secrets from the store. */
  onChanged?(): Promise<void>;
  onAudit?: OnAudit | undefined;
}

/** Secrets that entries refer to, for the console, the API and the command line. */
export class SecretsAdmin {
  readonly #options: SecretsAdminOptions;

  constructor(options: SecretsAdminOptions) {
    this.#options = options;
  }

  async list(): Promise<SecretsList> {
    const [outlines, uses, key] = await Promise.all([
      this.#options.repository.outlines(),
      this.#uses(),
      this.#key(),
    ]);
    const names = new Set(outlines.map(({ name }) => name));
    return {
      secrets: outlines.map(({ name, setAt, keyId }) => ({
        name,
        setAt,
        usedBy: uses.get(name) ?? [],
        ...("id" in key && keyId !== key.id
          ? { problem: "It was encrypted with a different key: set it again" }
          : {}),
      })),
      missing: [...uses].filter(([name]) => !names.has(name))
        .map(([name, usedBy]) => ({ name, usedBy }))
        .sort((a, b) => a.name < b.name ? -1 : 1),
      ...("problem" in key ? { unavailable: key.problem } : {}),
    };
  }

  /** Sets a secret; the servers that use it are connected anew. Gives their names. */
  async set(name: string, value: string): Promise<{ usedBy: string[] }> {
    const { repository, learn, onAudit, onChanged } = this.#options;
    checkSecret(name, value);
    learn?.([value]);
    const isKnown = (await repository.outlines()).some((outline) => outline.name === name);
    await repository.set(name, value);
    onAudit?.({ action: isKnown ? "secret.change" : "secret.set", subject: name });
    await onChanged?.();
    return { usedBy: await this.usersOf(name) };
  }

  /** Deletes a secret; if servers use it, only with confirmation. */
  async delete(name: string, force = false): Promise<{ usedBy: string[] }> {
    const { repository, onAudit, onChanged } = this.#options;
    const outlines = await repository.outlines();
    if (!outlines.some((outline) => outline.name === name)) throw unknown(name);
    const usedBy = await this.usersOf(name);
    if (usedBy.length > 0 && !force) {
      throw new GatewayError("CONFLICT", {
        message: `Cannot delete the secret ${name}: ${usersWords(usedBy)} it`,
        recoverySteps: [
          "Change their entries first",
          "Or confirm the deletion: these servers stop until the secret is set again",
        ],
      });
    }
    if (!await repository.delete(name)) throw unknown(name);
    onAudit?.({ action: "secret.delete", subject: name });
    await onChanged?.();
    return { usedBy };
  }

  /** What of a backup cannot be opened here, in sentences that say what to do. */
  async sealedElsewhere(sealed: readonly SealedNames[]): Promise<string[]> {
    if (sealed.length === 0) return [];
    const key = await this.#key();
    return otherKeyWarnings(sealed, "id" in key ? key.id : undefined);
  }

  /** Names of the servers whose entries refer to a secret. */
  async usersOf(name: string): Promise<string[]> {
    return (await this.#uses()).get(name) ?? [];
  }

  async #uses(): Promise<Map<string, string[]>> {
    const uses = new Map<string, string[]>();
    for (const { name, spec } of await this.#options.servers()) {
      for (const secret of secretNames(spec).filter(isStoredSecret)) {
        uses.set(secret, [...uses.get(secret) ?? [], name].sort());
      }
    }
    return uses;
  }

  async #key(): Promise<{ id: string } | { problem: string }> {
    try {
      return { id: await this.#options.keyId() };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { problem: `${error.message}. ${error.toBody().recoveryAction}` };
    }
  }
}

/** `the server github uses`, `the servers a and b use`. */
export function usersWords(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(", ");
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return names.length === 1 ? `the server ${shown} uses` : `the servers ${shown}${more} use`;
}

function unknown(name: string): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: `There is no secret "${name.slice(0, 64)}"`,
    recoveryAction: "See all secrets",
  });
}
