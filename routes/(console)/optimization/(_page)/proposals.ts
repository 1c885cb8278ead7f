import { PromptCategory } from "../../../../lib/core/optimization.ts";
import type { AcceptedProposal } from "../../../../lib/operations/traffic_admin.ts";

/** The selected proposals of a form, as they were edited. */
export function editedProposals(form: URLSearchParams): AcceptedProposal[] {
  return form.getAll("key").map((key) => {
    const field = (name: string) => form.get(`${name}-${key}`)?.trim() || undefined;
    const [, server, tool] = /^([^.]+)\.(.+)$/s.exec(field("tool") ?? "") ?? [];
    return {
      key,
      ...Object.fromEntries(
        Object.entries({
          prompt: field("prompt"),
          category: PromptCategory.safeParse(field("category")).data,
          server,
          tool,
          expectedTool: field("expected"),
        }).filter(([, value]) => value !== undefined),
      ),
    };
  });
}
