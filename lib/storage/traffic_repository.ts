import * as z from "zod";
import { collection } from "./collection.ts";
import { keys } from "./keys.ts";

/** Somebody says that a recorded call was made with the wrong tool. */
export const CallMark = z.strictObject({
  callId: z.string(),
  at: z.number(),
  server: z.string(),
  tool: z.string(),
  /** `server.tool`; missing if another tool or none would have been right. */
  rightTool: z.string().optional(),
  by: z.enum(["caller", "person"]),
});
export type CallMark = z.infer<typeof CallMark>;

export class CallMarksRepository extends collection({
  noun: "mark of a call",
  key: keys.callMarks,
  schema: CallMark,
  idOf: ({ callId }) => callId,
  announce: false,
}) {}

/** A proposed prompt that somebody has decided on. */
export const ProposalDecision = z.strictObject({
  key: z.string(),
  at: z.number(),
  decision: z.enum(["accepted", "discarded"]),
});
export type ProposalDecision = z.infer<typeof ProposalDecision>;

export class ProposalDecisionsRepository extends collection({
  noun: "decision on a proposed prompt",
  key: keys.proposalDecisions,
  schema: ProposalDecision,
  idOf: ({ key }) => key,
  announce: false,
}) {}
