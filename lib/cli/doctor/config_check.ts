import { candidateFiles, type LoadedServers, loadServers } from "../../config/mcp_file.ts";
import { type ConfigProblem, located } from "../../config/files.ts";
import { GatewayError } from "../../core/errors.ts";
import type { CommandInput } from "../command.ts";
import { selfOf } from "../self.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** The config file and the settings file; what the former names goes on to the other checks. */
export async function checkConfig(
  input: CommandInput,
  address: string | undefined,
): Promise<{ findings: Finding[] } & Pick<LoadedServers, "servers" | "leftOut">> {
  const { options, dirs, env, platform } = input;
  const location = { path: options.config, cwd: Deno.cwd(), configDir: dirs.config };
  const findings = input.problems.map((found) => asFinding("settings", found));
  try {
    const { file, servers, leftOut, problems, declared } = await loadServers({
      ...location,
      env,
      platform,
      self: selfOf(input, address),
    });
    if (file === undefined) {
      const looked = candidateFiles(location).join(", ");
      findings.push(ok("config", `There is no config file (looked for ${looked})`));
    } else {
      findings.push(
        ok("config", `${file} names ${declared} ${declared === 1 ? "server" : "servers"}`),
      );
    }
    findings.push(...problems.map((found) => asFinding("config", found)));
    return { findings, servers, leftOut };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const fix = error.details.recoveryAction ?? "Correct it";
    // The message ends with the same words.
    const end = error.message.toLowerCase().lastIndexOf(`; ${fix.toLowerCase()}`);
    const message = end < 0 ? error.message : error.message.slice(0, end);
    const found = problem("config", message, fix);
    return { findings: [...findings, found], servers: [], leftOut: [] };
  }
}

function asFinding(about: string, found: ConfigProblem): Finding {
  const make = found.severity === "error" ? problem : warning;
  return make(about, located(found, found.message), found.fix);
}
