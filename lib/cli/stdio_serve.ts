import { join } from "@std/path";
import type { ReadOptions } from "../config/options.ts";
import type { RpcMessage } from "../core/rpc.ts";
import type { GatewayHost } from "./gateway_host.ts";
import { StdioEndpoint } from "../mcp/stdio.ts";
import { parseLocation } from "../storage/kv_client.ts";
import { signingSecret } from "../storage/secrets_repository.ts";
import { Store } from "../storage/store.ts";
import { lineFormat } from "../telemetry/log_lines.ts";
import { Logs } from "../telemetry/logs.ts";
import { Credential } from "./credential.ts";
import { findGateways } from "./operation_target.ts";
import { onStopSignal, withLimit } from "./serve.ts";
import { type GatewayPlace, StdioBridge } from "./stdio_bridge.ts";
import { endpointPathOf } from "./stdio_flags.ts";
import { readMessages } from "./stdio_input.ts";
import { StdioOutput } from "./stdio_output.ts";

/** Clients kill what has not ended 2 to 5 s after they closed the pipe; stubborn programs take 2 s. */
const DRAIN_MS = 1_000;
const DISPOSE_MS = 3_500;

/** What answers the client. */
interface Answerer extends AsyncDisposable {
  take(message: RpcMessage, text: string): void;
  settled(): Promise<void>;
}

/** Speaks MCP on standard input and output until the client closes them or a signal comes. */
export async function serveStdio(host: GatewayHost): Promise<void> {
  keepOffStdout();
  const read = await host.options();
  const path = endpointPathOf(read.flags);
  const stop = Promise.withResolvers<void>();
  const release = onStopSignal(() => stop.resolve());
  const output = new StdioOutput(Deno.stdout.writable, stop.resolve);
  const answerer = await openBridge(read, path, output) ?? await openOwn(host, path, output);
  const reading = readMessages(Deno.stdin.readable, {
    maxBody: read.options.maxBody,
    onMessage: (message, text) => answerer.take(message, text),
    write: output.write,
    ready: output.ready,
  });
  // A pipe that breaks has ended, too.
  await Promise.race([stop.promise, reading.catch(() => {})]);
  await withLimit(answerer.settled().then(() => output.flushed()), DRAIN_MS);
  await withLimit(answerer[Symbol.asyncDispose](), DISPOSE_MS);
  release();
  Deno.exit(0);
}

/** A bridge to the gateway that runs on the same data, if one does and may be joined. */
async function openBridge(
  { options }: ReadOptions,
  path: string,
  output: StdioOutput,
): Promise<Answerer | undefined> {
  const { kv, dataDir } = options;
  if (options.standalone || kv === undefined || parseLocation(kv).kind === "memory") return;
  const find = async (wanted?: GatewayPlace): Promise<GatewayPlace | undefined> => {
    // Opened for each look: held open, it would stand in the way of a restore.
    await using store = await Store.open({ location: kv });
    const places = (await findGateways(store)).map(({ address, status: { pid, startedAt } }) => ({
      address,
      pid,
      startedAt,
    }));
    const isWanted = ({ pid, startedAt }: GatewayPlace) =>
      pid === wanted?.pid && startedAt === wanted.startedAt;
    return places.find(isWanted) ?? places[0];
  };
  const place = await find();
  if (!place) return;
  const logs = await Logs.open({
    level: options.logLevel,
    format: lineFormat(options.logFormat),
    development: options.development,
    keepFiles: options.logRetention,
    // Apart from the gateway's, which they would soon crowd out.
    ...(dataDir === undefined ? {} : { folder: join(dataDir, "logs", "stdio") }),
  });
  const log = logs.module("cli");
  log.info({ gateway: place.address, endpoint: path }, "Joined the gateway that already runs");
  const { write, ready } = output;
  async function secret(): Promise<Uint8Array> {
    await using store = await Store.open({ location: kv });
    return await signingSecret(store);
  }
  const credentialAt = (gateway: GatewayPlace) =>
    new Credential({ token: options.token, owner: { gateway, secret } });
  const bridge = new StdioBridge({ place, find, path, write, ready, log, credentialAt });
  return {
    take(message, text) {
      const method = "method" in message ? message.method : undefined;
      log.debug({ kind: message.kind, method }, "Message");
      bridge.take(message, text);
    },
    settled: () => bridge.settled(),
    async [Symbol.asyncDispose]() {
      await bridge[Symbol.asyncDispose]();
      log.info("Stopped");
      await logs[Symbol.asyncDispose]();
    },
  };
}

/** A whole gateway for this client alone. */
async function openOwn(host: GatewayHost, path: string, output: StdioOutput): Promise<Answerer> {
  const gateway = await host.get();
  gateway.logs.module("cli").info({ endpoint: path }, "Speaking MCP on standard input and output");
  const endpoint = new StdioEndpoint({
    host: gateway.endpoints.host,
    open: await gateway.endpoints.opener(path),
    write: output.write,
  });
  return {
    take: (message, text) => endpoint.take(message, text),
    settled: () => endpoint.settled(),
    async [Symbol.asyncDispose]() {
      gateway.close();
      // At once: programs of the client's own and those of all may each take their time to end.
      await Promise.all([endpoint[Symbol.asyncDispose](), host[Symbol.asyncDispose]()]);
    },
  };
}

/** Only the protocol goes to stdout, whatever a dependency has to say. */
function keepOffStdout(): void {
  // deno-lint-ignore no-console
  console.log = console.info = console.debug = console.error;
}
