import type { Problem } from "../lib/console/optimization_problem.ts";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";

/** Why a form was not accepted, and what to do. */
export function ProblemNotice({ title, problem }: { title: string; problem: Problem }) {
  return (
    <div class="notice tone-bad" role="alert">
      <Icon name="error" size={14} />
      <div>
        <p>
          {title}: <InertText text={problem.message} /> <code>{problem.code}</code>
        </p>
        {problem.steps.length > 0 && (
          <ul class="failure-steps">{problem.steps.map((step) => <li key={step}>{step}</li>)}</ul>
        )}
      </div>
    </div>
  );
}
