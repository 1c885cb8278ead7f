import { ACCESS_OPERATIONS, ACCESS_PATHS } from "./access.ts";
import { ACTIVITY_OPERATIONS, ACTIVITY_PATHS } from "./activity.ts";
import { APPROVAL_OPERATIONS, APPROVAL_PATHS } from "./approvals.ts";
import { AUDIT_OPERATIONS, AUDIT_PATHS } from "./audit.ts";
import { CONSENT_OPERATIONS, CONSENT_PATHS } from "./consents.ts";
import type { OldPath } from "./http.ts";
import { JOB_OPERATIONS } from "./jobs.ts";
import type { Operation } from "./operation.ts";
import { OPTIMIZATION_OPERATIONS, OPTIMIZATION_PATHS } from "./optimization.ts";
import { REVIEW_OPERATIONS, REVIEW_PATHS } from "./review.ts";
import { SECRET_OPERATIONS, SECRET_PATHS } from "./secrets.ts";
import { HISTORY_OPERATIONS, HISTORY_PATHS } from "./server_history.ts";
import { LOGIN_OPERATIONS, LOGIN_PATHS } from "./server_logins.ts";
import { PASTE_OPERATIONS } from "./server_pasting.ts";
import { SERVER_OPERATIONS, SERVER_PATHS } from "./servers.ts";
import { SETTINGS_OPERATIONS } from "./settings.ts";
import { STATUS_OPERATIONS, STATUS_PATHS } from "./status.ts";
import { TOOL_OPERATIONS, TOOL_PATHS } from "./tool_search.ts";
import { TOOLSET_OPERATIONS, TOOLSET_PATHS } from "./toolsets.ts";

const FAMILIES = [
  SERVER_OPERATIONS,
  HISTORY_OPERATIONS,
  LOGIN_OPERATIONS,
  PASTE_OPERATIONS,
  TOOLSET_OPERATIONS,
  OPTIMIZATION_OPERATIONS,
  JOB_OPERATIONS,
  ACCESS_OPERATIONS,
  SECRET_OPERATIONS,
  REVIEW_OPERATIONS,
  CONSENT_OPERATIONS,
  APPROVAL_OPERATIONS,
  AUDIT_OPERATIONS,
  ACTIVITY_OPERATIONS,
  TOOL_OPERATIONS,
  STATUS_OPERATIONS,
  SETTINGS_OPERATIONS,
];

/** Every operation there is, by name. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  FAMILIES.flatMap((family): Operation[] => Object.values(family)).map((each) => [each.name, each]),
);

/** The paths that the API had before its paths were the names of operations. */
export const OLD_PATHS: readonly OldPath[] = [
  ...SERVER_PATHS,
  ...LOGIN_PATHS,
  ...HISTORY_PATHS,
  ...TOOLSET_PATHS,
  ...OPTIMIZATION_PATHS,
  ...ACCESS_PATHS,
  ...SECRET_PATHS,
  ...REVIEW_PATHS,
  ...CONSENT_PATHS,
  ...APPROVAL_PATHS,
  ...AUDIT_PATHS,
  ...ACTIVITY_PATHS,
  ...TOOL_PATHS,
  ...STATUS_PATHS,
];
