import { SERVER_OPERATIONS } from "../operations/servers.ts";
import type { ServersAccess } from "./servers_access.ts";

type Described = Pick<ServersAccess, "isRunning" | "address" | "run">;

/** Says why a call may take so long, unless it has ended or told of its progress by then. */
export function waitNotice(
  servers: Described,
  server: string,
  afterMs: number,
  tell: (text: string) => void,
): Disposable {
  let isOver = false;
  const timer = setTimeout(async () => {
    const text = await waitText(servers, server);
    if (!isOver) tell(text);
  }, afterMs);
  return {
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

async function waitText(servers: Described, server: string): Promise<string> {
  const { isRunning, address } = servers;
  // Only a gateway asks somebody; without one the call is made from here.
  if (isRunning && address !== undefined) {
    const described = await servers.run(SERVER_OPERATIONS.show, { name: server })
      .catch(() => undefined);
    if (described?.spec.mode === "confirm") {
      const place = new URL("/security/approvals", address).href;
      return `The call may wait for your approval: answer it at ${place}`;
    }
  }
  return "The call is still running; Ctrl-C cancels it";
}
