import { type OperationCall, runOperation } from "../../../../../lib/operations/operation.ts";
import { SECRET_OPERATIONS } from "../../../../../lib/operations/secrets.ts";
import type { Services } from "../../../../../lib/operations/services.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import { SecretName } from "../../../../../lib/core/secret_reference.ts";
import type { SecretsList } from "../../../../../lib/operations/secrets_admin.ts";
import { type FormError, formError } from "../../../../../lib/console/errors.ts";

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
  set: "Secret set. Servers that use it reconnect.",
  deleted: "Secret deleted.",
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
  services: Services,
  form: URLSearchParams,
  call: OperationCall,
): Promise<keyof typeof DONE> {
  const name = form.get("name")?.trim() ?? "";
  switch (form.get("change")) {
    case "set": {
      const value = form.get("value") ?? "";
      await runOperation(SECRET_OPERATIONS.set, services, { name, value }, call);
      return "set";
    }
    case "delete":
      // The page has named the servers that use it, and asked.
      await runOperation(SECRET_OPERATIONS.remove, services, { name, force: true }, call);
      return "deleted";
    default:
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "The form does not say what to do",
        recoveryAction: "Load the page again",
      });
  }
}
