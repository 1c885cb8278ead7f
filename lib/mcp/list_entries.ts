/** Checks entries of servers' lists. Loaded with the first list: the schemas are large. */
import {
  PromptSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  TaskSchema,
} from "@modelcontextprotocol/core";
import { SkillSchema } from "@modelcontextprotocol/core/ext/skills";

const SCHEMAS = {
  prompts: PromptSchema,
  resources: ResourceSchema,
  resourceTemplates: ResourceTemplateSchema,
  tasks: TaskSchema,
  skills: SkillSchema,
};

/** Why a client of the SDK would refuse the entry, and the whole list with it. */
export function listEntryProblem(list: keyof typeof SCHEMAS, entry: unknown): string | undefined {
  const [issue] = SCHEMAS[list].safeParse(entry).error?.issues ?? [];
  return issue && `${issue.path.join(".")}: ${issue.message}`;
}
