import { z } from "zod";
import { GoldenPrompt, JobOptions, PromotedTool, ToolCandidate } from "../../core/optimization.ts";

/** How many candidates are written at a time. */
export const CandidateCount = JobOptions.shape.candidatesPerTool;
/** How many prompts of one category are written at a time. */
export const PromptCount = z.int().min(0).max(50).default(5);
/** How many prompts are saved at a time. */
export const MOST_SAVED_PROMPTS = 200;
/** Why something is promoted or reverted, in a person's words. */
export const Reason = PromotedTool.shape.reason.unwrap().trim().min(1);

const { prompt } = GoldenPrompt.shape;
export const PROMPT_LENGTH = { least: prompt.minLength ?? 0, most: prompt.maxLength ?? Infinity };
export const MAX_EXAMPLE = ToolCandidate.shape.example.unwrap().maxLength ?? Infinity;
