/** How long things may take with a downstream server, in ms. */
export const TIMINGS = {
  connect: 30_000,
  pingEvery: 30_000,
  pingTimeout: 10_000,
  /** A connection that held this long was a good one: the next try starts without a wait. */
  steady: 30_000,
  /** After this long without a call a lazy server is stopped. */
  lazyIdle: 5 * 60_000,
  /** After this long without a word a client's own connection is ended; its next call opens another. */
  ownIdle: 10 * 60_000,
  /** What the calls in flight have left when a server's entry changes. */
  settle: 10_000,
};
export type Timings = typeof TIMINGS;
