import type { CandidateView } from "../lib/console/optimization_candidates.ts";
import type { ToolOptimizationPage } from "../lib/console/optimization_tool_page.ts";
import { optimizationPath } from "../lib/console/ui/paths.ts";
import { Field } from "./field.tsx";

/** Puts a candidate in force; against the verdict only with a reason, which is kept. */
export function PromoteForm(
  { page, candidate }: { page: ToolOptimizationPage; candidate: CandidateView },
) {
  const id = `reason-${candidate.id}`;
  const isRefused = candidate.refusal !== undefined;
  const typed = page.typed.candidate === candidate.id ? page.typed.reason ?? "" : "";
  return (
    <form
      class="promote"
      method="post"
      action={optimizationPath(page.server, page.tool)}
      f-client-nav={false}
      data-busy="Promoting…"
    >
      <input type="hidden" name="do" value="promote" />
      <input type="hidden" name="candidate" value={candidate.id} />
      {isRefused && (
        <Field
          id={id}
          label="Reason to promote it all the same"
          hint="The verdict does not allow it by itself. The reason is kept in the history."
        >
          <input
            id={id}
            class="input"
            name="reason"
            required
            maxLength={1_000}
            value={typed}
            aria-describedby={`${id}-hint`}
          />
        </Field>
      )}
      <button type="submit" class={isRefused ? "button" : "button button-primary"}>
        {isRefused ? "Promote against the verdict" : "Promote"}{" "}
        <span class="visually-hidden">{candidate.label}</span>
      </button>
    </form>
  );
}
