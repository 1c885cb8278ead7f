import type { GatewayHost } from "./gateway_host.ts";
import { exitWith } from "./terminal.ts";
import { onStopSignal } from "./serve.ts";

/** Runs the development server until it is stopped or restarted by `--watch`, then disposes all. */
export async function develop(
  host: GatewayHost,
  listen: (options: Deno.ServeTcpOptions & { signal: AbortSignal }) => Promise<void>,
): Promise<void> {
  try {
    const { options } = await host.options();
    const stop = new AbortController();
    const release = onStopSignal(async (signal) => {
      (await host.get()).close();
      await host[Symbol.asyncDispose]();
      stop.abort();
      // SIGTERM is also how --watch asks for room for the next run, which an exit would prevent.
      if (signal === "SIGINT") Deno.exit(0);
    });
    const stopped = new Promise((resolve) => stop.signal.addEventListener("abort", resolve));
    await listen({
      hostname: options.host,
      port: options.port,
      signal: stop.signal,
      async onListen({ port }) {
        host.listensOn(port);
        const gateway = await host.get();
        gateway.logs.module("cli").info(
          { address: gateway.localAddress },
          `Open ${gateway.address}`,
        );
      },
    });
    await stopped;
    release();
  } catch (error) {
    await host[Symbol.asyncDispose]();
    exitWith(error);
  }
}
