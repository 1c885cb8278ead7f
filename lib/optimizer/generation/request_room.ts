/** The most characters of one request to a model, its system text included. */
export const MAX_REQUEST = 24_000;

/** The most characters of each part of a request; together they leave room for a repair. */
export const ROOM = {
  system: 3_500,
  task: 800,
  description: 2_500,
  schema: 4_000,
  siblings: 4_500,
  examples: 1_500,
  existing: 1_500,
  refused: 2_500,
} as const;
