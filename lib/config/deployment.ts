import { GatewayError } from "../core/errors.ts";
import { type Env, nonEmpty } from "./env.ts";

/** What the place the gateway runs in lets it do. */
export interface Platform {
  name: "local" | "deploy";
  /** Whether programs can be started, and so stdio servers used. */
  canSpawn: boolean;
  /** Whether files written stay: a data folder, log files. */
  canWrite: boolean;
}

const LOCAL: Platform = { name: "local", canSpawn: true, canWrite: true };
const DEPLOY: Platform = { name: "deploy", canSpawn: false, canWrite: false };

/** Deno Deploy or a machine of one's own; QUARTERMASTER_PLATFORM decides where it is set. */
export function detectPlatform(env: Env): Platform {
  const forced = nonEmpty(env, "QUARTERMASTER_PLATFORM");
  if (forced === "deploy") return DEPLOY;
  if (forced === "local") return LOCAL;
  if (forced !== undefined) {
    throw new GatewayError("CONFIG_INVALID", {
      message: `Cannot use QUARTERMASTER_PLATFORM "${forced}": it must be "local" or "deploy"`,
      recoveryAction: "Remove QUARTERMASTER_PLATFORM, or set it to local or deploy",
    });
  }
  const deployed = nonEmpty(env, "DENO_DEPLOYMENT_ID") ?? nonEmpty(env, "DENO_DEPLOY");
  return deployed === undefined ? LOCAL : DEPLOY;
}
