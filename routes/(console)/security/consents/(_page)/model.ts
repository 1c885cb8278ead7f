import { z } from "zod";
import type { Gateway } from "../../../../../lib/gateway.ts";
import type { GatewayError } from "../../../../../lib/core/errors.ts";
import { decideByForm } from "../../../../../lib/console/api.ts";
import { CONSENT_OPERATIONS, requesterOf } from "../../../../../lib/operations/consents.ts";
import type { OperationCall, OutputOf } from "../../../../../lib/operations/operation.ts";
import type { Services } from "../../../../../lib/operations/services.ts";
import { ServerName } from "../../../../../lib/core/server.ts";
import { hasPublicUrl } from "../../../../../lib/config/address.ts";
import type { ConsentView } from "../../../../../lib/storage/consents_repository.ts";
import { type FormError, formError } from "../../../../../lib/console/errors.ts";

const ConsentDecision = z.enum(["approve", "refuse"]);

export interface ConsentRow extends ConsentView {
  who: string;
}

export interface ConsentsPage {
  consents: ConsentRow[];
  /** Whether whoever looks can agree: only at the gateway's own machine. */
  canAgree: boolean;
  /** Whether no page can tell that it is looked at there, so that it takes the command line. */
  isByCommandOnly: boolean;
  done: { decision: z.infer<typeof ConsentDecision>; server: string } | undefined;
  error: FormError | undefined;
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
  return {
    consents: rows.map((row) => ({ ...row, who: requesterOf(row, access) })),
    canAgree: isLocal && mayManage,
    isByCommandOnly: hasPublicUrl(options.options.publicUrl),
    done: doneOf(query),
    error: error && formError(error),
  };
}

const { approve, refuse } = CONSENT_OPERATIONS;
const DECISIONS = { approve: { operation: approve }, refuse: { operation: refuse } };

export async function decideConsent(
  gateway: Services,
  form: URLSearchParams,
  call: OperationCall,
): Promise<URLSearchParams> {
  const { decision, output } = await decideByForm(DECISIONS, gateway, form, call, "decision");
  const { server, refused = "" }: Partial<OutputOf<typeof approve> & OutputOf<typeof refuse>> =
    output;
  return new URLSearchParams({ done: decision, server: server?.name ?? refused });
}

function doneOf(query: URLSearchParams): ConsentsPage["done"] {
  const decided = ConsentDecision.safeParse(query.get("done"));
  const server = ServerName.safeParse(query.get("server"));
  if (!decided.success || !server.success) return undefined;
  return { decision: decided.data, server: server.data };
}
