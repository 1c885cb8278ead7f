import { ManagedServer, type ManagedServerOptions } from "../server.ts";
import { type FakeServer, silentLog, until } from "./fake_server.ts";

/** A server that is connected to a fake one. */
export async function startManaged(
  fake: FakeServer,
  { name = "git", ...options }: Partial<ManagedServerOptions> & { name?: string } = {},
): Promise<ManagedServer> {
  const server = new ManagedServer({
    server: {
      name,
      spec: { type: "http", url: "http://fake.example/", headers: {} },
      source: { kind: "store" },
    },
    log: silentLog(),
    openTransport: (_, events) => fake.open(events),
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
    ...options,
  });
  server.start();
  await until(() => server.status.state === "ready");
  return server;
}
