import { z } from "zod";
import { JobOptions } from "../../../lib/core/optimization.ts";

/** What a job is to work on, and how. */
export const JobBody = z.strictObject({
  server: z.string().exactOptional(),
  tools: z.array(z.string()).min(1).max(2_000).exactOptional(),
  all: z.boolean().exactOptional(),
  options: JobOptions.prefault({}),
});
