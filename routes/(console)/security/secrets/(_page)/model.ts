import { type OperationCall, runOperation } from "../../../../../lib/operations/operation.ts";
import { SECRET_OPERATIONS } from "../../../../../lib/operations/secrets.ts";
import type { Services } from "../../../../../lib/operations/services.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import type { GatewayError } from "../../../../../lib/core/errors.ts";
import { SecretName } from "../../../../../lib/core/secret_reference.ts";
import type { SecretsList } from "../../../../../lib/operations/secrets_admin.ts";
import { unknownDecision } from "../../../../../lib/console/api.ts";
import { type FormError, formError } from "../../../../../lib/console/errors.ts";

export interface SecretsPage extends SecretsList {
  /** The name that was written; a value is never given back. */
  draft: string;
  done: string | undefined;
  nameProblem: string | undefined;
  error: FormError | undefined;
}

const DONE: Record<string, string> = {
  set: "Secret set. Servers that use it reconnect.",
  deleted: "Secret deleted.",
};

export async function secretsPage(
  gateway: Pick<Gateway, "secrets">,
  query: URLSearchParams,
  error?: GatewayError,
): Promise<SecretsPage> {
  const admin = await gateway.secrets();
  const nameProblem = error && query.get("change") === "set"
    ? problemOf(query.get("name"))
    : undefined;
  return {
    ...await admin.list(),
    draft: (query.get("name") ?? "").slice(0, 64),
    done: error === undefined ? DONE[query.get("done") ?? ""] : undefined,
    nameProblem,
    error: error && nameProblem === undefined ? formError(error) : undefined,
  };
}

function problemOf(name: string | null): string | undefined {
  const parsed = SecretName.safeParse(name?.trim() ?? "");
  return parsed.success ? undefined : parsed.error.issues[0]?.message;
}

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
      throw unknownDecision();
  }
}
