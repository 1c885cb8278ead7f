import { isBlockedPort } from "../../config/address.ts";
import type { FoundGateway } from "../operation_target.ts";
import { GatewayClient } from "../gateway_client.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const ABOUT = "port";
/** Whatever listens there may take what is said and never answer. */
const ANSWER_LIMIT_MS = 2_000;
const OTHER_PORT = "Stop what uses it, or choose another port with --port";

/** Whether a gateway can have its port, or who has it. */
export async function checkPort(
  { host, port }: { host: string; port: number },
  gateways: readonly FoundGateway[],
): Promise<Finding[]> {
  const running = gateways.map(({ address, status }) =>
    ok(
      "gateway",
      `A gateway is running at ${address} (pid ${status.pid}, version ${status.version})`,
    )
  );
  if (port === 0) return [...running, ok(ABOUT, "The system chooses a port at each start")];
  const findings = [...running];
  if (isBlockedPort(new URL(`http://127.0.0.1:${port}`))) {
    findings.push(problem(
      ABOUT,
      `Port ${port} is one that browsers and many clients refuse to connect to`,
      "Choose another port with --port",
    ));
  }
  const own = gateways.find(({ address }) => Number(new URL(address).port) === port);
  if (own) {
    return [...findings, ok(ABOUT, `Port ${port} is used by this gateway (pid ${own.status.pid})`)];
  }
  return [...findings, await tryPort(host, port)];
}

async function tryPort(host: string, port: number): Promise<Finding> {
  try {
    Deno.listen({ hostname: host, port }).close();
    return ok(ABOUT, `Port ${port} on ${host} is free`);
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return await whoHas(host, port);
    if (error instanceof Deno.errors.AddrNotAvailable) {
      return problem(ABOUT, `This machine has no address ${host}`, "Choose another with --host");
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      return problem(
        ABOUT,
        `The system does not let you listen on port ${port}`,
        "Choose a port over 1023 with --port",
      );
    }
    const words = error instanceof Error ? error.message : String(error);
    return problem(ABOUT, `Cannot listen on ${host}:${port}: ${words}`, "Choose another --port");
  }
}

async function whoHas(host: string, port: number): Promise<Finding> {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const address = `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
  const status = await inTime(new GatewayClient(address).status().catch(() => undefined));
  if (!status) return problem(ABOUT, `Port ${port} is used by another program`, OTHER_PORT);
  return warning(
    ABOUT,
    `Port ${port} is used by a gateway with another data folder (pid ${status.pid})`,
    "Name its folder with --data-dir to look at that one, or choose another port with --port",
  );
}

async function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  const limit = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => limit.resolve(undefined), ANSWER_LIMIT_MS);
  const answer = await Promise.race([work, limit.promise]);
  clearTimeout(timer);
  return answer;
}
