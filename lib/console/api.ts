import type { z } from "zod";
import type { Context } from "fresh";
import { RightMissing } from "../auth/grants.ts";
import { insufficientScope, isOAuthPrincipal } from "../auth/oauth_scopes.ts";
import { GatewayError } from "../core/errors.ts";
import { isFromThisMachine } from "../http/request_origin.ts";
import { OPERATIONS } from "../operations/all.ts";
import { answerOperation, type ApiRequest } from "../operations/http.ts";
import { answerOldPath } from "../operations/old_paths.ts";
import { type OperationCall, type OperationSpec, runOperation } from "../operations/operation.ts";
import { placeOf } from "./admit.ts";
import type { State } from "./define.ts";

/** Answers for an operation by its name, or at the path that it had in the version before. */
export async function answerApi(ctx: Context<State>, path: string): Promise<Response> {
  try {
    return await answer(ctx, path);
  } catch (error) {
    throw withScopes(error, ctx);
  }
}

/** A client with an identity provider's token is told which scopes to ask for. */
function withScopes(error: unknown, { req, state }: Context<State>): unknown {
  const { gateway, principal } = state;
  const hasToken = isOAuthPrincipal(principal) && req.headers.get("authorization") !== null;
  if (!(error instanceof RightMissing) || !hasToken) return error;
  return insufficientScope(gateway.access.grants(principal).rights, error.right);
}

async function answer(ctx: Context<State>, path: string): Promise<Response> {
  const api = apiRequest(ctx);
  if (OPERATIONS.has(path)) return await answerOperation(path, api);
  const response = await answerOldPath(api);
  if (response) return response;
  throw new GatewayError("NOT_FOUND", {
    message: `There is no operation at /api/${path.slice(0, 200)}`,
    recoverySteps: ["See /api/openapi.json for all operations"],
  });
}

export function callOf(ctx: Context<State>, via: "api" | "console"): OperationCall {
  const { req, state } = ctx;
  return {
    principal: state.principal,
    via,
    isLocal: isFromThisMachine(ctx),
    from: () => placeOf(ctx),
    signal: req.signal,
    progress: () => {},
  };
}

export function runFor<Input extends z.ZodObject, Output>(
  ctx: Context<State>,
  operation: OperationSpec<Input, Output>,
  input: z.input<Input>,
): Promise<Output> {
  return runOperation(operation, ctx.state.gateway, input, callOf(ctx, "console"));
}

function apiRequest(ctx: Context<State>): ApiRequest {
  const { gateway } = ctx.state;
  return {
    request: ctx.req,
    services: gateway,
    operations: OPERATIONS,
    call: callOf(ctx, "api"),
    maxBytes: gateway.options.options.maxBody,
  };
}
