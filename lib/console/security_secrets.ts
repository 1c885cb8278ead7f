import type { Gateway } from "../compose.ts";
import type { AuditAsker } from "../core/audit.ts";
import { GatewayError } from "../core/errors.ts";
import { SecretName } from "../core/secret_reference.ts";
import type { SecretsList } from "../surfaces/secrets_admin.ts";
import { type FormError, formError } from "./form_error.ts";

export interface SecretsPage extends SecretsList {
  /** The name that was written; a value is never given back. */
  draft: string;
  /** What was just done, in words. */
  done?: string;
  /** What is wrong with the name, said beside it. */
  nameProblem?: string;
  error?: FormError;
}

type SecretsGateway = Pick<Gateway, "secrets">;

const DONE: Record<string, string> = {
  set: "The secret is set. Servers that use it are connected anew.",
  deleted: "The secret is deleted.",
};

export async function secretsPage(
  gateway: SecretsGateway,
  query: URLSearchParams,
  error?: GatewayError,
): Promise<SecretsPage> {
  const admin = await gateway.secrets();
  const done = DONE[query.get("done") ?? ""];
  const nameProblem = query.get("change") === "set" ? problemOf(query.get("name")) : undefined;
  return {
    ...await admin.list(),
    draft: (query.get("name") ?? "").slice(0, 64),
    ...(done === undefined || error !== undefined ? {} : { done }),
    ...(error === undefined
      ? {}
      : nameProblem === undefined
      ? { error: formError(error) }
      : { nameProblem }),
  };
}

function problemOf(name: string | null): string | undefined {
  const parsed = SecretName.safeParse(name?.trim() ?? "");
  return parsed.success ? undefined : parsed.error.issues[0]?.message;
}

/** Does what a form asks for, and gives what was done. */
export async function changeSecrets(
  gateway: SecretsGateway,
  form: URLSearchParams,
  by: AuditAsker,
): Promise<keyof typeof DONE> {
  const admin = await gateway.secrets();
  const name = form.get("name")?.trim() ?? "";
  switch (form.get("change")) {
    case "set":
      await admin.set(name, form.get("value") ?? "", by);
      return "set";
    case "delete":
      // The page has said who uses it, and asked.
      await admin.delete(name, { force: true, by });
      return "deleted";
    default:
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "The form does not say what to do",
        recoveryAction: "Load the page again",
      });
  }
}
