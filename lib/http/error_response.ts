import { GatewayError } from "../core/errors.ts";

/** An error as JSON, the same at every door and API. */
export function errorResponse(error: unknown, requestId: string): Response {
  const known = GatewayError.from(error);
  const { retryAfterSeconds } = known.details;
  return Response.json({ error: known.toBody(), requestId }, {
    status: known.httpStatus,
    ...(retryAfterSeconds === undefined ? {} : {
      headers: { "retry-after": String(retryAfterSeconds) },
    }),
  });
}
