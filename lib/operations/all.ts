import { ACCESS_OPERATIONS } from "./access.ts";
import { ACTIVITY_OPERATIONS } from "./activity.ts";
import { APPROVAL_OPERATIONS } from "./approvals.ts";
import { AUDIT_OPERATIONS } from "./audit.ts";
import { CLIENT_OPERATIONS } from "./clients.ts";
import { COMPARISON_OPERATIONS } from "./comparison.ts";
import { CONSENT_OPERATIONS } from "./consents.ts";
import { JOB_OPERATIONS } from "./jobs.ts";
import type { Operation } from "./operation.ts";
import { OPTIMIZATION_OPERATIONS } from "./optimization.ts";
import { PACKAGE_OPERATIONS } from "./packages.ts";
import { REVIEW_OPERATIONS } from "./review.ts";
import { SECRET_OPERATIONS } from "./secrets.ts";
import { LOGIN_OPERATIONS } from "./server_logins.ts";
import { PASTE_OPERATIONS } from "./server_pasting.ts";
import { SERVER_OPERATIONS } from "./servers.ts";
import { SETTINGS_OPERATIONS } from "./settings.ts";
import { STATUS_OPERATIONS } from "./status.ts";
import { TOOL_OPERATIONS } from "./tool_search.ts";
import { TRAFFIC_OPERATIONS } from "./traffic.ts";
import { TOOLSET_OPERATIONS } from "./toolsets.ts";

const FAMILIES = [
  SERVER_OPERATIONS,
  LOGIN_OPERATIONS,
  PASTE_OPERATIONS,
  TOOLSET_OPERATIONS,
  OPTIMIZATION_OPERATIONS,
  JOB_OPERATIONS,
  TRAFFIC_OPERATIONS,
  COMPARISON_OPERATIONS,
  ACCESS_OPERATIONS,
  SECRET_OPERATIONS,
  REVIEW_OPERATIONS,
  PACKAGE_OPERATIONS,
  CONSENT_OPERATIONS,
  APPROVAL_OPERATIONS,
  AUDIT_OPERATIONS,
  ACTIVITY_OPERATIONS,
  CLIENT_OPERATIONS,
  TOOL_OPERATIONS,
  STATUS_OPERATIONS,
  SETTINGS_OPERATIONS,
];

/** Every operation there is, by name. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  FAMILIES.flatMap((family): Operation[] => Object.values(family)).map((each) => [each.name, each]),
);
