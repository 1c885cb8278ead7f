import { within } from "../core/async.ts";
import { findInformationFlag, helpText } from "../config/command_line.ts";
import { GatewayError, systemErrorCode } from "../core/errors.ts";
import { VERSION } from "../core/product.ts";
import type { Gateway } from "../gateway.ts";
import { checkStdioFlags, type GatewayHost, STDIO_FLAGS } from "./gateway_host.ts";
import { findDirectAnswer } from "../http/direct_answer.ts";
import type { HttpRequest } from "../http/exchange.ts";
import { errorResponse, handleRequest, httpSpan } from "../http/handle_request.ts";
import { isTracing, withSpan } from "../telemetry/tracing.ts";
import type { HttpHandler, HttpListener } from "../http/listener.ts";
import { Banner } from "./banner.ts";
import { startAgain } from "./permissions.ts";
import { exitWith, print } from "./terminal.ts";
import { tidyAtRest } from "./tidy.ts";
import { noTokenYet } from "../auth/grants.ts";
import type { ReadOptions } from "../config/options.ts";
import { systemEnv } from "../config/platform.ts";
import { isLoopback } from "../config/address.ts";

/** How long requests in flight may continue after a stop signal. */
const DRAIN_MS = 2_000;
/** Limit for the rest of a stop: stubborn programs take 2 s, and platforms kill after 5 s in total. */
const DISPOSE_MS = 2_800;
/**
 * One Ctrl-C can arrive twice: from the process group, and forwarded by `deno task` or the launcher,
 * on a busy machine much later. A stop takes 5 s at most, so that a second Ctrl-C can wait.
 */
const SAME_SIGNAL_MS = 2_000;

export interface BuiltApp {
  default: { fetch(request: Request, info?: Deno.ServeHandlerInfo): Response | Promise<Response> };
}

/** Starts the gateway and keeps it running until a signal comes; exits 2 if it cannot start. */
export async function runGateway(
  host: GatewayHost,
  loadApp: () => Promise<BuiltApp>,
): Promise<void> {
  try {
    const information = findInformationFlag(Deno.args);
    if (information === "help") {
      return print(helpText({ commandFlags: STDIO_FLAGS, flagsTitle: "Options for --stdio:" }));
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
  const { options, platform, flags } = read;
  // `start` is optional.
  const command = read.command === "start" ? read.positionals[0] : read.command;
  if (command !== undefined) {
    throw new GatewayError("CONFIG_INVALID", {
      message:
        `Cannot start with the argument "${command}": run commands as \`quartermaster ${command}\``,
    });
  }
  checkStdioFlags(flags, options);
  const code = platform.canSpawn ? await startAgain(read, systemEnv()) : undefined;
  if (code !== undefined) Deno.exit(code);
  if (options.stdio) {
    const { serveStdio } = await import("./stdio_serve.ts");
    return await serveStdio(host);
  }
  const stop = Promise.withResolvers<void>();
  const release = onStopSignal(() => stop.resolve());
  using banner = Banner.open(options);
  if (banner) host.logsTo(banner);
  const { hostname, port } = { hostname: options.host, port: options.port };
  const isPlatform = platform.name !== "local";
  /** Undefined if it was stopped first: a store that does not answer may hold this up for long. */
  const getGateway = async () => {
    const gateway = await Promise.race([host.get(), stop.promise]);
    if (gateway?.access.isRequired && !gateway.access.hasToken) throw noTokenToServe(read);
    return gateway;
  };
  try {
    // A gateway without a token must refuse to start before anybody can connect; all others answer
    // `/healthz` while they are built. Only a listener knows a port that the system chooses.
    if (mayLackToken(read) && port !== 0) await getGateway();
    const server = await bind({
      hostname,
      port,
      isPlatform,
      onCrowded: (message) => void warn(host, message),
    }, handlerOf(host, loadApp, isPlatform));
    host.listensOn(server.addr.port);
    const gateway = await getGateway();
    if (!gateway) {
      banner?.stopping();
      await within(host[Symbol.asyncDispose](), DISPOSE_MS);
      banner?.stopped();
      Deno.exit(0);
    }
    gateway.logs.module("cli").info({ address: gateway.localAddress }, `Open ${gateway.address}`);
    banner?.show(gateway);
    const endTidying = tidyAtRest(() => ({
      tools: gateway.toolsVersion,
      answered: gateway.endpoints.answered,
    }));
    await stop.promise;
    endTidying();
    banner?.stopping();
    await stopGateway(host, gateway, () => server.shutdown());
    banner?.stopped();
  } catch (error) {
    release();
    throw error;
  }
  // With the listeners in place: a signal that is still on its way must not end the process instead.
  Deno.exit(0);
}

/** Lets requests finish, then stops everything else, before the platform kills the process. */
async function stopGateway(
  host: GatewayHost,
  gateway: Gateway,
  drain: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  gateway.logs.module("cli").info("Stopping");
  gateway.close();
  await within(drain(), DRAIN_MS);
  await within(host[Symbol.asyncDispose](), DISPOSE_MS);
}

/** Runs the gateway under `deno serve`: Deno listens, and everything else is as in runGateway(). */
export async function serveUnder(host: GatewayHost): Promise<void> {
  try {
    onStopSignal(async () => {
      const stopping = host.get().then((gateway) => stopGateway(host, gateway), () => {});
      await within(stopping, DRAIN_MS + DISPOSE_MS);
      Deno.exit(0);
    });
    const { access } = await host.get();
    if (access.isRequired && !access.hasToken) throw noTokenToServe(await host.options());
  } catch (error) {
    await host[Symbol.asyncDispose]();
    exitWith(error);
  }
}

/** Loads the console when the first page is asked for: clients of the endpoints never need it. */
function handlerOf(
  host: GatewayHost,
  loadApp: () => Promise<BuiltApp>,
  isPlatform: boolean,
): HttpHandler {
  let app: Promise<BuiltApp["default"]["fetch"]> | undefined;
  let gateway: Gateway | undefined;
  return (request, info) => gateway ? handle(gateway, request, info) : begin(request, info);

  async function begin(
    request: Parameters<HttpHandler>[0],
    info: Deno.ServeHandlerInfo,
  ): Promise<Response> {
    gateway = await host.get();
    return await handle(gateway, request, info);
  }

  function handle(
    gateway: Gateway,
    request: Parameters<HttpHandler>[0],
    info: Deno.ServeHandlerInfo,
  ): Response | Promise<Response> {
    // The endpoints keep their own account of calls: a line and a dozen headers for each would cost as
    // much as the relaying.
    const endpoint = gateway.endpoints.find(request, info);
    if (endpoint) return answerCall(gateway, request, endpoint);
    // Nothing below could read the URL of a request with an invalid Host.
    if (!URL.canParse(request.url)) {
      const message = "The request's Host header does not match this gateway";
      return errorResponse(new GatewayError("FOREIGN_HOST", { message }), crypto.randomUUID());
    }
    const whole = "toRequest" in request ? request.toRequest() : request;
    const answer = findDirectAnswer(gateway, whole, info);
    if (answer) return handleRequest(gateway, whole, crypto.randomUUID(), answer);
    // One that could not be loaded is tried again with the next page.
    app ??= loadFetch().catch((error) => {
      app = undefined;
      throw error;
    });
    return app.then((fetch) => fetch(whole, info));
  }

  async function loadFetch(): Promise<BuiltApp["default"]["fetch"]> {
    const { default: app } = await loadApp();
    // Platforms compress responses themselves.
    if (isPlatform) return (request, info) => app.fetch(request, info);
    const { Compression } = await import("../http/compression.ts");
    const compression = new Compression();
    return async (request, info) =>
      await compression.apply(request, await app.fetch(request, info));
  }
}

/** Answers at an MCP endpoint. Only failures get a log line, a count and all headers. */
async function answerCall(
  gateway: Gateway,
  request: HttpRequest,
  answer: () => Promise<Response>,
): Promise<Response> {
  try {
    gateway.guard.check(request);
    if (!isTracing) return await answer();
    return await withSpan(httpSpan(request), async (span) => {
      const response = await answer();
      span?.setAttribute("http.response.status_code", response.status);
      return response;
    });
  } catch (error) {
    const fail = () => Promise.reject(error);
    return await handleRequest(gateway, request, crypto.randomUUID(), fail);
  }
}

interface BindOptions {
  hostname: string;
  port: number;
  /** Whether the platform's own server listens, with its own timeouts and limits. */
  isPlatform: boolean;
  onCrowded(message: string): void;
}

async function bind(
  { hostname, port, isPlatform, onCrowded }: BindOptions,
  handler: HttpHandler,
): Promise<HttpListener> {
  try {
    if (isPlatform) return Deno.serve({ hostname, port, onListen: () => {} }, handler);
    const { listenHttp } = await import("../http/listener.ts");
    return listenHttp({ hostname, port, onCrowded }, handler);
  } catch (error) {
    throw new GatewayError("CONFIG_INVALID", {
      message: `Cannot listen on ${hostname}:${port}: ${await reasonOf(error, hostname, port)}`,
      cause: error,
    });
  }
}

async function warn(host: GatewayHost, message: string): Promise<void> {
  (await host.get()).logs.module("http").warn(message);
}

async function reasonOf(error: unknown, hostname: string, port: number): Promise<string> {
  const code = systemErrorCode(error);
  if (error instanceof Deno.errors.AddrInUse || code === "EADDRINUSE") {
    const address = `http://${/^(0\.0\.0\.0|::)$/.test(hostname) ? "127.0.0.1" : hostname}:${port}`;
    return await isGatewayAt(address)
      ? `Quartermaster is already running at ${address}; stop it, or choose another port with --port`
      : "the port is in use; stop the program that uses it, or choose another port with --port";
  }
  if (error instanceof Deno.errors.AddrNotAvailable || code === "EADDRNOTAVAIL") {
    return "this machine does not have that address; choose another address with --host";
  }
  if (error instanceof Deno.errors.PermissionDenied || code === "EACCES") {
    return "the system does not allow it; choose a port above 1023 with --port";
  }
  return error instanceof Error ? error.message : String(error);
}

async function isGatewayAt(address: string): Promise<boolean> {
  try {
    const answer = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(1_000) });
    const body = await answer.json();
    return typeof body?.servers?.ready === "number" && body.store !== undefined;
  } catch {
    return false;
  }
}

/** Calls `stop` at the first signal; a second Ctrl-C or SIGTERM ends the process at once. */
export function onStopSignal(stop: (signal: Deno.Signal) => void): () => void {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  let stoppedAt: number | undefined;
  const listeners = signals.map((signal) => {
    const listener = () => {
      if (stoppedAt === undefined) {
        stoppedAt = performance.now();
        stop(signal);
      } else if (signal !== "SIGHUP" && performance.now() - stoppedAt > SAME_SIGNAL_MS) {
        Deno.exit(130);
      }
    };
    Deno.addSignalListener(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) Deno.removeSignalListener(signal, listener);
  };
}

type Read = Pick<ReadOptions, "options" | "origins" | "platform">;

/** Whether the store decides if there is a token to serve with. */
function mayLackToken(read: Read): boolean {
  const { adminToken, oauthIssuer } = read.options;
  return reasonsOf(read).length > 0 && adminToken === undefined && oauthIssuer === undefined;
}

/** A gateway that would refuse everyone does not start: the error says why it needs a token, and how to create one. */
export function noTokenToServe(read: Read): GatewayError {
  const { message, details } = noTokenYet({
    why: reasonsOf(read).join(" and "),
    place: placeOf(read),
  });
  return new GatewayError("CONFIG_INVALID", {
    ...details,
    message: `Cannot serve on ${read.options.host}: ${message}`,
  });
}

function reasonsOf({ options: { requireToken, host, publicUrl }, platform }: Read): string[] {
  const isDeployed = platform.name === "deploy";
  return [
    ...(requireToken ? ["--require-token is set"] : []),
    ...(isDeployed ? ["anyone can reach it on Deno Deploy"] : []),
    ...(isLoopback(host) || isDeployed ? [] : [`other machines can reach it on ${host}`]),
    ...(publicUrl === undefined || isLoopback(new URL(publicUrl).hostname)
      ? []
      : [`its public URL is ${publicUrl}`]),
  ];
}

/** The flags with which a command works on the same data; none if it finds that by itself. */
function placeOf({ options, origins }: Read): string {
  const flags = [
    ["--data-dir", options.dataDir, origins.dataDir],
    ["--kv", options.kv, origins.kv],
  ] as const;
  return flags.flatMap(([flag, value, origin]) =>
    value !== undefined && (origin === "flag" || origin === "environment")
      ? [flag, quoted(value)]
      : []
  ).join(" ");
}

function quoted(path: string): string {
  return /[^\w@%+=:,./\\-]/.test(path) ? `"${path}"` : path;
}

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
