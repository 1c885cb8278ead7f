import * as z from "zod";

/** What the content guard found in what a server said, or in arguments; never the passage itself. */
export const ContentFinding = z.strictObject({
  kind: z.enum(["hidden", "order", "secret", "link", "form"]),
  /** Which rule, such as `override` or `GitHub token`. */
  rule: z.string(),
  /** `content[0].text`. */
  place: z.string(),
  start: z.int(),
  length: z.int(),
  action: z.enum(["marked", "neutralized", "redacted", "blocked", "refused", "noted"]),
});
export type ContentFinding = z.infer<typeof ContentFinding>;
