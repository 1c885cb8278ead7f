import * as z from "zod/mini";

export const FormError = z.object({
  message: z.string(),
  code: z.string(),
  /** What to do about it. */
  steps: z.array(z.string()),
  hint: z.optional(z.string()),
});
/** Why what was written in a form could not be done. */
export type FormError = z.infer<typeof FormError>;
