import type { FormDecisions } from "../../../../../lib/console/form_page.ts";
import { SECRET_OPERATIONS } from "../../../../../lib/operations/secrets.ts";
import type { SecretsList } from "../../../../../lib/operations/secrets_admin.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";

export interface SecretsPage extends SecretsList {
  /** The name that was written; a value is never given back. */
  draft: string;
}

export const SECRET_DECISIONS: FormDecisions = {
  set: {
    operation: SECRET_OPERATIONS.set,
    done: "Secret set. Servers that use it reconnect.",
    fields: ["name"],
  },
  delete: {
    operation: SECRET_OPERATIONS.remove,
    // The page has named the servers that use it, and asked.
    defaults: { force: "true" },
    done: "Secret deleted.",
  },
};

export async function secretsPage(
  gateway: Pick<Gateway, "secrets">,
  query: URLSearchParams,
  _call?: unknown,
  form = query,
): Promise<SecretsPage> {
  const admin = await gateway.secrets();
  return { ...await admin.list(), draft: (form.get("name") ?? "").slice(0, 64) };
}
