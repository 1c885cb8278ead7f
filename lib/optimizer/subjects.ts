import type { ShownTool } from "./evaluator.ts";
import type { SubjectTool } from "./generation/subject_tool.ts";
import type { SelectedTool } from "./job_selection.ts";
import type { RankedTool } from "./second_opinion.ts";

/** A tool whose description can be put to the test. */
export type Subject = SubjectTool & {
  enabled: boolean;
  flatName: string;
  canonicalDescription: string | null;
};

/** The tools there are. */
export interface Subjects {
  /** Undefined where there is no such tool now. */
  find(server: string, tool: string): Subject | undefined;
  tools(server?: string): { server: string; tool: string; enabled: boolean }[];
  /** The tools of the equipped toolset, of whatever servers. */
  equipped(): readonly SelectedTool[];
  /** With these of other servers beside the server's own, as far as they are there. */
  shown(
    server: string,
    tool: string,
    description: string,
    beside: readonly SelectedTool[],
  ): readonly ShownTool[];
  /** What search looks through. */
  searched(): readonly RankedTool[];
}
