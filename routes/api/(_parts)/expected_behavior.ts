import { z } from "zod";

/** What should come of a prompt; what is left out follows from its category. */
export const ExpectedBehavior = z.strictObject({
  shouldCallTool: z.boolean().exactOptional(),
  notes: z.string().exactOptional(),
  expectedTool: z.string().exactOptional(),
});
