import { z } from "zod";
import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE, ownerOf } from "../core/principal.ts";
import { ServerName, type ServerStatus } from "../core/server.ts";
import { isKnownToOthers } from "../http/from_here.ts";
import type { ConsentView } from "../surfaces/consents.ts";
import type { ServerAsker } from "../surfaces/server_asker.ts";
import { type FormError, formError } from "./form_error.ts";

export const ConsentDecision = z.strictObject({ decision: z.enum(["approve", "refuse"]) });
export type ConsentDecision = z.infer<typeof ConsentDecision>["decision"];

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
  { principal = "", isHere }: ServerAsker,
  query = new URLSearchParams(),
  error?: GatewayError,
): Promise<ConsentsPage> {
  const mayManage = access.grants(principal).may("manage");
  const rows = await (await consents()).list(mayManage);
  const done = doneOf(query);
  return {
    consents: rows.map((row) => ({ ...row, who: whoOf(row, access) })),
    canAgree: isHere && mayManage,
    isByCommandOnly: isKnownToOthers(options.options.publicUrl),
    ...(done === undefined ? {} : { done }),
    ...(error === undefined ? {} : { error: formError(error) }),
  };
}

function whoOf({ origin: { principal } }: ConsentView, access: ConsentsGateway["access"]): string {
  // Where no token is asked for, not even the machine is sure.
  const isKnown = principal !== undefined && ownerOf(principal) !== EVERYONE;
  return isKnown ? access.nameOf(principal) : "somebody without a token";
}

/** The server that was started, or only the name of the one that is not to be. */
export async function decideConsent(
  { consents }: Pick<Gateway, "consents">,
  id: string,
  decision: ConsentDecision,
  { isHere }: ServerAsker,
): Promise<{ server: ServerStatus } | { refused: string }> {
  const waiting = await consents();
  return decision === "approve"
    ? { server: await waiting.approve(id, isHere) }
    : { refused: await waiting.refuse(id) };
}

/** Does what a form asks for; gives what the page is then asked with. */
export async function decideByForm(
  gateway: Pick<Gateway, "consents">,
  form: URLSearchParams,
  by: ServerAsker,
): Promise<URLSearchParams> {
  const parsed = ConsentDecision.safeParse({ decision: form.get("decision") });
  if (!parsed.success) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "The form does not say what to do",
      recoveryAction: "Load the page again",
    });
  }
  const { decision } = parsed.data;
  const outcome = await decideConsent(gateway, form.get("id") ?? "", decision, by);
  const server = "server" in outcome ? outcome.server.name : outcome.refused;
  return new URLSearchParams({ done: decision, server });
}

function doneOf(query: URLSearchParams): ConsentsPage["done"] {
  const decided = ConsentDecision.safeParse({ decision: query.get("done") });
  const server = ServerName.safeParse(query.get("server"));
  if (!decided.success || !server.success) return undefined;
  return { decision: decided.data.decision, server: server.data };
}
