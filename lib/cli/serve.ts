import { findInformationFlag } from "../config/command_line.ts";
import { helpText } from "../config/help.ts";
import { codeOf } from "../core/code_of.ts";
import { GatewayError } from "../core/errors.ts";
import { isLoopback } from "../core/loopback.ts";
import { VERSION } from "../core/version.ts";
import type { Gateway } from "../compose.ts";
import type { GatewayHost } from "../host.ts";
import { findDirectAnswer } from "../http/direct_answer.ts";
import type { Listener } from "../http/patient_listener.ts";
import { errorResponse } from "../http/error_response.ts";
import { inRequestScope } from "../http/request_scope.ts";
import { noTokenToServe } from "./no_token.ts";
import { checkStdioFlags, STDIO_FLAGS } from "./stdio_flags.ts";
import { exitWith, print } from "./terminal.ts";
import { tidyAtRest } from "./tidy.ts";

/** How long requests in flight may go on after a stop was asked for; stubborn programs take 2 s more,
 * and platforms kill after 5. */
const DRAIN_MS = 2_000;

/** The built app's request handler, as `_fresh/server.js` exports it. */
export interface BuiltApp {
  default: { fetch(request: Request, info?: Deno.ServeHandlerInfo): Response | Promise<Response> };
}

/** Starts the gateway and keeps it running until a signal comes; exits 2 where it cannot start. */
export async function serve(host: GatewayHost, loadApp: () => Promise<BuiltApp>): Promise<void> {
  try {
    const information = findInformationFlag(Deno.args);
    if (information === "help") {
      return print(helpText({ commandFlags: STDIO_FLAGS, flagsTitle: "Options of --stdio:" }));
    }
    if (information === "version") return print(`quartermaster ${VERSION}\n`);
    await listen(host, loadApp);
  } catch (error) {
    await host[Symbol.asyncDispose]();
    exitWith(error);
  }
}

async function listen(host: GatewayHost, loadApp: () => Promise<BuiltApp>): Promise<void> {
  const read = await host.options();
  const { options, platform, command, flags } = read;
  if (command !== undefined) {
    throw new GatewayError("CONFIG_INVALID", {
      message: `Cannot start with "${command}": commands belong to \`deno task cli ${command}\``,
    });
  }
  checkStdioFlags(flags, options);
  if (options.stdio) {
    const { serveStdio } = await import("./stdio_serve.ts");
    return await serveStdio(host);
  }
  const stop = Promise.withResolvers<void>();
  const release = onStopSignal(() => stop.resolve());
  const { hostname, port } = { hostname: options.host, port: options.port };
  // A platform stands before its instances, and waits for slow clients itself.
  const isOpen = platform.name === "local" && !isLoopback(hostname);
  const server = await bind({ hostname, port, isOpen }, handlerOf(host, loadApp));
  try {
    host.listensOn(server.addr.port);
    const gateway = await host.get();
    if (gateway.access.isRequired && !gateway.access.hasToken) throw noTokenToServe(read);
    gateway.logs.room("cli").info({ address: gateway.localAddress }, `Open ${gateway.address}`);
    const endTidying = tidyAtRest(() => ({
      tools: gateway.toolsVersion,
      answered: gateway.doors.answered,
    }));
    await stop.promise;
    endTidying();
    gateway.logs.room("cli").info("Stopping");
    gateway.close();
    await withLimit(server.shutdown(), DRAIN_MS);
    await host[Symbol.asyncDispose]();
  } finally {
    release();
  }
  Deno.exit(0);
}

/** Loads the console when the first page is asked for: clients of the doors never need it. */
function handlerOf(host: GatewayHost, loadApp: () => Promise<BuiltApp>): Deno.ServeHandler {
  let app: Promise<BuiltApp> | undefined;
  let gateway: Gateway | undefined;
  return (request, info) => gateway ? handle(gateway, request, info) : begin(request, info);

  async function begin(request: Request, info: Deno.ServeHandlerInfo): Promise<Response> {
    gateway = await host.get();
    return await handle(gateway, request, info);
  }

  function handle(
    gateway: Gateway,
    request: Request,
    info: Deno.ServeHandlerInfo,
  ): Response | Promise<Response> {
    // The doors keep their own account of calls: a line and a dozen headers for each would cost as
    // much as the relaying.
    const door = gateway.doors.find(request, info);
    if (door) return gateway.atDoor(request, door);
    // With a Host that is none there is no address either, and nothing further on could read it.
    if (!URL.canParse(request.url)) {
      const message = "The request's Host is not this gateway";
      return errorResponse(new GatewayError("FOREIGN_HOST", { message }), crypto.randomUUID());
    }
    const answer = findDirectAnswer(gateway, request);
    if (answer) return inRequestScope(gateway, request, crypto.randomUUID(), answer);
    app ??= loadApp();
    return app.then((app) => app.default.fetch(request, info));
  }
}

interface BindOptions {
  hostname: string;
  port: number;
  /** Whether others than this machine can connect. */
  isOpen: boolean;
}

async function bind(
  { hostname, port, isOpen }: BindOptions,
  handler: Deno.ServeHandler,
): Promise<Listener> {
  try {
    if (!isOpen) return Deno.serve({ hostname, port, onListen: () => {} }, handler);
    const { listenPatiently } = await import("../http/patient_listener.ts");
    return await listenPatiently({ hostname, port }, handler);
  } catch (error) {
    throw new GatewayError("CONFIG_INVALID", {
      message: `Cannot listen on ${hostname}:${port}: ${reasonOf(error)}`,
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (error instanceof Deno.errors.AddrInUse || code === "EADDRINUSE") {
    return "the port is taken; stop what uses it, or choose another with --port";
  }
  if (error instanceof Deno.errors.AddrNotAvailable || code === "EADDRNOTAVAIL") {
    return "this machine does not have that address; choose another with --host";
  }
  if (error instanceof Deno.errors.PermissionDenied || code === "EACCES") {
    return "the system does not allow it; choose a port over 1023 with --port";
  }
  return error instanceof Error ? error.message : String(error);
}

/** Calls `stop` at the first signal; a second one ends the process at once. */
export function onStopSignal(stop: (signal: Deno.Signal) => void): () => void {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  let stopping = false;
  const listeners = signals.map((signal) => {
    const listener = () => {
      if (stopping) Deno.exit(130);
      stopping = true;
      stop(signal);
    };
    Deno.addSignalListener(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) Deno.removeSignalListener(signal, listener);
  };
}

/** Waits for the work, but no longer than that. */
export async function withLimit(work: PromiseLike<unknown>, ms: number): Promise<void> {
  const limit = Promise.withResolvers<void>();
  const timer = setTimeout(limit.resolve, ms);
  await Promise.race([work, limit.promise]);
  clearTimeout(timer);
}
