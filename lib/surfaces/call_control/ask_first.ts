import { asAbortSignal } from "../../core/cancellation.ts";
import { GatewayError } from "../../core/errors.ts";
import { shortened } from "../../core/shortened.ts";
import { canFillForms, confirm } from "../builtin_tool.ts";
import type { GatedCall } from "../call_gate.ts";
import { APPROVAL_MS, type Approvals, argumentsOf, type Verdict } from "./approvals.ts";

/** A question in a client's window is no place for more. */
const ASKED_ARGUMENTS = 2_000;

export interface AskFirstOptions {
  approvals: Approvals;
  /** Takes secrets out of a JSON text. */
  mask(json: string): string;
  /** Where a person finds what waits. */
  page: string;
  limitMs?: number;
}

/** Asks a person whether a call shall be made; throws unless the answer is a yes in time. */
export async function askFirst(options: AskFirstOptions, call: GatedCall): Promise<void> {
  const { approvals, page } = options;
  if (approvals.isTrusted(call)) return;
  const isAskedThere = canFillForms(call.port.client.capabilities.elicitation);
  const verdict = isAskedThere ? await askClient(options, call) : await approvals.wait(call);
  if (verdict === "approved") return;
  const name = `${call.tool.server}.${call.tool.name}`;
  if (verdict === "denied") {
    throw new GatewayError("ACCESS_DENIED", {
      message: `Not called: the user said no to this call of ${name}`,
      recoveryAction: "Do without this call",
      recoverySteps: ["Do without this call", "Ask the user what to do instead"],
    });
  }
  throw new GatewayError("TIMEOUT", {
    message: `Not called: nobody agreed to this call of ${name} in time, and it will not be made`,
    recoveryAction: "Ask the user to agree, then call again",
    recoverySteps: isAskedThere
      ? ["Tell the user that a question will be asked", "Call again, and have the user answer it"]
      : [`Tell the user to open ${page}`, "Call again, and have the user approve the call there"],
  });
}

async function askClient(options: AskFirstOptions, call: GatedCall): Promise<Verdict> {
  const { tool, scope, port } = call;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), options.limitMs ?? APPROVAL_MS);
  const signal = AbortSignal.any([asAbortSignal(scope.signal), limit.signal]);
  try {
    const question =
      `Run ${tool.server}.${tool.name}? It may change or delete things. Arguments: ` +
      shownArguments(options.mask(argumentsOf(scope.text)));
    const isAgreed = await confirm({ ...scope, signal }, port, visible(question));
    scope.signal.throwIfAborted();
    if (isAgreed) return "approved";
    return limit.signal.aborted ? "expired" : "denied";
  } finally {
    clearTimeout(timer);
  }
}

/** What is left out is said, or the part that matters could hide behind a long one. */
function shownArguments(text: string): string {
  const left = text.length - ASKED_ARGUMENTS;
  if (left <= 0) return text;
  return `${shortened(text, ASKED_ARGUMENTS)} (${left} more characters are not shown)`;
}

/** Nothing in a question may be invisible, or turn its words around. */
function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
