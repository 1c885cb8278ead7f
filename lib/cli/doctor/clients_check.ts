import { clientConfigFiles } from "../../config/clients.ts";
import { GatewayError } from "../../core/errors.ts";
import { fileLabel, isOwnEntry, serversIn } from "../client_files.ts";
import type { CommandInput } from "../command.ts";
import { selfOf } from "../self.ts";
import { type Finding, ok, warning } from "./finding.ts";

/** Which clients have this gateway in their config, and whether at the right address. */
export async function checkClients(
  input: CommandInput,
  address: string | undefined,
): Promise<Finding[]> {
  const self = selfOf(input, address);
  const findings: Finding[] = [];
  for (const file of clientConfigFiles({ os: Deno.build.os, env: input.env, cwd: Deno.cwd() })) {
    try {
      for (const server of await serversIn(file, input, self) ?? []) {
        if (!isOwnEntry(server)) continue;
        const where = `"${server.writtenAs}" in ${file.path}`;
        findings.push(
          server.isSelf ? ok("client", `${fileLabel(file)} uses this gateway: ${where}`) : warning(
            "client",
            `${fileLabel(file)} expects the gateway on a port other than ${self.port}: ${where}`,
            `Update it with \`quartermaster connect ${file.client} --write\``,
          ),
        );
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      findings.push(warning("client", error.message, `${fileLabel(file)} cannot read it either`));
    }
  }
  if (findings.length > 0) return findings;
  const message = "No client on this machine has this gateway in its config";
  return [ok("client", message, "Add it with `quartermaster connect CLIENT`")];
}
