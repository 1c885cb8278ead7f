import { ACCESS_EXTRAS } from "./access_text.ts";
import { AUDIT_EXTRAS } from "./audit_text.ts";
import { CONSENT_EXTRAS } from "./consent_text.ts";
import { JOB_EXTRAS } from "./job_text.ts";
import type { CommandExtras } from "./operation_command.ts";
import { OPTIMIZATION_EXTRAS } from "./optimization_text.ts";
import { SERVER_EXTRAS } from "./server_text.ts";
import { REVIEW_EXTRAS } from "./review_text.ts";
import { SEARCH_EXTRAS } from "./search_text.ts";
import { TOOLSET_EXTRAS } from "./toolset_text.ts";

/** What commands have beyond their operations, by operation. */
export const EXTRAS: Record<string, CommandExtras> = {
  ...ACCESS_EXTRAS,
  ...SERVER_EXTRAS,
  ...TOOLSET_EXTRAS,
  ...OPTIMIZATION_EXTRAS,
  ...JOB_EXTRAS,
  ...REVIEW_EXTRAS,
  ...CONSENT_EXTRAS,
  ...AUDIT_EXTRAS,
  ...SEARCH_EXTRAS,
};
