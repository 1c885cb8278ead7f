/** The statuses an error can have, as on the real package: 4xx and 5xx only. */
export type ErrorStatus =
  // deno-fmt-ignore
  | 400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414
  // deno-fmt-ignore
  | 415 | 416 | 417 | 418 | 421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451
  // deno-fmt-ignore
  | 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511;

/** Ends a request with this status; the nearest error page renders it. */
export class HttpError extends Error {
  status: ErrorStatus;

  constructor(status: ErrorStatus, message?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = this.constructor.name;
    this.status = status;
  }
}
