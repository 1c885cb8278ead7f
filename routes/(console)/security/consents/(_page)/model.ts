import type { Gateway } from "../../../../../lib/gateway.ts";
import type { FormDecisions } from "../../../../../lib/console/form_page.ts";
import { CONSENT_OPERATIONS, requesterOf } from "../../../../../lib/operations/consents.ts";
import type { OperationCall, OutputOf } from "../../../../../lib/operations/operation.ts";
import { ServerName } from "../../../../../lib/core/server.ts";
import { hasPublicUrl } from "../../../../../lib/config/address.ts";
import type { ConsentView } from "../../../../../lib/storage/consents_repository.ts";

export interface ConsentRow extends ConsentView {
  who: string;
}

export interface ConsentsPage {
  consents: ConsentRow[];
  /** Whether the reader can agree: only at the gateway's own machine. */
  canAgree: boolean;
  /** Whether no page can tell that it is read there, so that it takes the command line. */
  isByCommandOnly: boolean;
  /** The server that was just decided on, and whether it is there now. */
  decided: { server: string; isAdded: boolean } | undefined;
}

type ConsentsGateway = Pick<Gateway, "consents" | "access" | "options">;

const { approve, refuse } = CONSENT_OPERATIONS;

export const CONSENT_DECISIONS: FormDecisions = {
  approve: {
    operation: approve,
    done: "was started. It is not trusted: changes to its tools wait for your review.",
  },
  refuse: { operation: refuse, done: "was refused. Nothing was started." },
};

export async function consentsPage(
  { consents, access, options }: ConsentsGateway,
  query: URLSearchParams,
  { principal, isLocal }: Pick<OperationCall, "principal" | "isLocal">,
): Promise<ConsentsPage> {
  const mayManage = access.grants(principal).may("manage");
  const server = ServerName.safeParse(query.get("server")).data;
  const rows = await (await consents()).list(mayManage);
  return {
    consents: rows.map((row) => ({ ...row, who: requesterOf(row, access) })),
    canAgree: isLocal && mayManage,
    isByCommandOnly: hasPublicUrl(options.options.publicUrl),
    decided: server === undefined
      ? undefined
      : { server, isAdded: query.get("done") === "approve" },
  };
}

export function decidedServer(
  output: Partial<OutputOf<typeof approve> & OutputOf<typeof refuse>>,
): Record<string, string> {
  return { server: output.server?.name ?? output.refused ?? "" };
}
