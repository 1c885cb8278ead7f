import { z } from "zod";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import { CONSENT_OPERATIONS, requesterOf } from "../../../../../lib/operations/consents.ts";
import { type OperationCall, runOperation } from "../../../../../lib/operations/operation.ts";
import type { Services } from "../../../../../lib/operations/services.ts";
import { ServerName } from "../../../../../lib/core/server.ts";
import { hasPublicUrl } from "../../../../../lib/config/address.ts";
import type { ConsentView } from "../../../../../lib/trust/consents.ts";
import { type FormError, formError } from "../../../../../lib/console/errors.ts";

const ConsentDecision = z.enum(["approve", "refuse"]);
type ConsentDecision = z.infer<typeof ConsentDecision>;

export interface ConsentRow extends ConsentView {
  /** What a person calls whoever asks. */
  who: string;
}

export interface ConsentsPage {
  consents: ConsentRow[];
  /** Whether whoever looks can agree: only at the gateway's own machine. */
  canAgree: boolean;
  /** Whether no page can tell that it is looked at there, so that it takes the command line. */
  isByCommandOnly: boolean;
  /** What was just done. */
  done?: { decision: ConsentDecision; server: string };
  error?: FormError;
}

type ConsentsGateway = Pick<Gateway, "consents" | "access" | "options">;

export async function consentsPage(
  { consents, access, options }: ConsentsGateway,
  { principal, isLocal }: Pick<OperationCall, "principal" | "isLocal">,
  query = new URLSearchParams(),
  error?: GatewayError,
): Promise<ConsentsPage> {
  const mayManage = access.grants(principal).may("manage");
  const rows = await (await consents()).list(mayManage);
  const done = doneOf(query);
  return {
    consents: rows.map((row) => ({ ...row, who: requesterOf(row, access) })),
    canAgree: isLocal && mayManage,
    isByCommandOnly: hasPublicUrl(options.options.publicUrl),
    ...(done === undefined ? {} : { done }),
    ...(error === undefined ? {} : { error: formError(error) }),
  };
}

/** Does what a form asks for; gives what the page is then asked with. */
export async function decideByForm(
  gateway: Services,
  form: URLSearchParams,
  call: OperationCall,
): Promise<URLSearchParams> {
  const { data: decision } = ConsentDecision.safeParse(form.get("decision"));
  const input = { id: form.get("id") ?? "" };
  switch (decision) {
    case "approve": {
      const { server } = await runOperation(CONSENT_OPERATIONS.approve, gateway, input, call);
      return new URLSearchParams({ done: decision, server: server.name });
    }
    case "refuse": {
      const { refused } = await runOperation(CONSENT_OPERATIONS.refuse, gateway, input, call);
      return new URLSearchParams({ done: decision, server: refused });
    }
    default:
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "The form does not say what to do",
        recoveryAction: "Load the page again",
      });
  }
}

function doneOf(query: URLSearchParams): ConsentsPage["done"] {
  const decided = ConsentDecision.safeParse(query.get("done"));
  const server = ServerName.safeParse(query.get("server"));
  if (!decided.success || !server.success) return undefined;
  return { decision: decided.data, server: server.data };
}
