/** What is wrong with the field above, in words. */
export function FieldProblem({ id, problem }: { id: string; problem: string | undefined }) {
  if (problem === undefined) return null;
  return <p class="field-problem" id={`${id}-problem`} role="alert">{problem}</p>;
}

/** What the field itself has to say of it, beside its hint. */
export function problemProps(id: string, problem: string | undefined) {
  return problem === undefined
    ? { "aria-describedby": `${id}-hint` }
    : { "aria-invalid": "true" as const, "aria-describedby": `${id}-problem ${id}-hint` };
}
