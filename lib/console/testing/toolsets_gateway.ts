import { Store } from "../../storage/store.ts";
import { openToolsets } from "../../mcp/testing/open_toolsets.ts";
import { OWNER_ACCESS, servicesOf } from "../../operations/testing/services.ts";
import { stubGateway, type StubInput } from "./stub_gateway.ts";

/** A stub whose toolsets are real, over tools named like this: `{ git: ["status"] }`. */
export async function toolsetsGateway(
  servers: Record<string, readonly string[]>,
  input: Omit<StubInput, "servers"> = {},
) {
  const store = await Store.open({ location: ":memory:" });
  const { admin, ...parts } = openToolsets(store, servers);
  const stub = stubGateway({
    ...input,
    servers: Object.entries(servers).map(([name, tools]) => ({
      name,
      tools: tools.map((name) => ({ name })),
    })),
  });
  const access = { ...stub.access, ...OWNER_ACCESS } as unknown as typeof stub.access;
  const gateway = servicesOf({ ...stub, toolsets: admin, access });
  return { ...parts, gateway, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}
