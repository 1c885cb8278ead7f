import type { Command } from "./command.ts";
import { reviewApprove, reviewReject, reviewRevert } from "./review_decide.ts";
import { reviewList, reviewShow } from "./review_list.ts";
import { reviewPolicy } from "./review_policy.ts";
import { reviewWaive } from "./review_waive.ts";

/** All of the family, by name. */
export const REVIEW_COMMANDS: Record<string, Command> = {
  "review list": reviewList,
  "review show": reviewShow,
  "review approve": reviewApprove,
  "review reject": reviewReject,
  "review revert": reviewRevert,
  "review waive": reviewWaive,
  "review policy": reviewPolicy,
};
