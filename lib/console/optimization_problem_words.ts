/** Where a person finds what a tool of the gateway does for a model. */
const PLACES: Record<string, string> = {
  evaluate_candidate: "Evaluate (in the tool's candidates)",
  generate_candidates: "the tool's candidates",
  generate_golden_prompts: "the tool's prompts",
  get_canonical_tools: "the server's page",
  get_eval_results: "the tool's results",
  get_optimization_job: "the job's page",
  list_servers: "the list of servers",
  maxRuns: "Budget: most runs",
  optimize_tools: "Optimize",
  promote_candidate: "Promote",
  propose_candidate: "the tool's candidates",
  record_eval_run: "`deno task cli optimize record`",
  restart_server: "Restart (on the server's page)",
  revert_optimization: "Revert to original",
  save_golden_prompts: "the tool's prompts",
};
const NAMES = new RegExp(`(\\bCall )?\\b(${Object.keys(PLACES).join("|")})\\b`, "g");

/** A sentence that was written for models, with the names of tools as a person finds them here. */
export function inPageWords(text: string): string {
  return text.replace(
    NAMES,
    (_, call: string | undefined, name: string) => (call ? "Use " : "") + PLACES[name],
  );
}
