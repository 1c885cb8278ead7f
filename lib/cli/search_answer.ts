import { z } from "zod";

/** What a gateway answers to a search. */
export const SearchAnswer = z.looseObject({
  query: z.string(),
  found: z.array(z.looseObject({
    namespacedName: z.string(),
    summary: z.string(),
    category: z.string(),
    tokens: z.number().optional(),
    relevance: z.number().optional(),
    explanation: z.string().optional(),
    scores: z.record(z.string(), z.number()).optional(),
  })),
  degraded: z.string().optional(),
});
export type SearchAnswer = z.infer<typeof SearchAnswer>;
