import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** How long a client may take, in ms, and how many may be connected. */
export interface ListenerLimits {
  /** For a request's headers, also those of the first on a connection. */
  headersMs: number;
  /** For a whole request; what reads a body may be stricter. */
  requestMs: number;
  /** Between two requests on one connection. */
  idleMs: number;
  connections: number;
}

export interface PatientListenerOptions {
  hostname: string;
  port: number;
  limits?: Partial<ListenerLimits>;
}

/** What a server of Deno's own offers too. */
export interface Listener {
  addr: { port: number };
  /** Takes no more connections, and resolves once those there are have ended. */
  shutdown(): Promise<void>;
}

type Handler = (
  request: Request,
  info: Deno.ServeHandlerInfo<Deno.NetAddr>,
) => Response | Promise<Response>;

const LIMITS: ListenerLimits = {
  headersMs: 15_000,
  requestMs: 300_000,
  idleMs: 65_000,
  connections: 2_000,
};
/** How often connections are looked at for those that are over their time. */
const LOOK_EVERY = 4;

/**
 * Listens where strangers can connect. Deno's own server waits for ever for a client that sends half
 * a header or nothing at all; Node's does not, for a little more time a request.
 */
export async function listenPatiently(
  { hostname, port, limits }: PatientListenerOptions,
  handler: Handler,
): Promise<Listener> {
  const { headersMs, requestMs, idleMs, connections } = { ...LIMITS, ...limits };
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.ceil(headersMs / LOOK_EVERY),
  }, (incoming, outgoing) => void answer(handler, incoming, outgoing));
  server.maxConnections = connections;
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen({ host: hostname, port }, listening.resolve);
  await listening.promise;
  server.off("error", listening.reject);
  const address = server.address();
  return {
    addr: { port: typeof address === "object" && address !== null ? address.port : port },
    async shutdown() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeIdleConnections();
      await closed.promise;
    },
  };
}

async function answer(
  handler: Handler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  const ended = Promise.withResolvers<void>();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) {
      gone.abort(new DOMException("The client has gone", "AbortError"));
    }
    ended.resolve();
  });
  try {
    const { remoteAddress = "", remotePort = 0 } = incoming.socket;
    const remoteAddr = { transport: "tcp", hostname: remoteAddress, port: remotePort } as const;
    const request = requestOf(incoming, gone.signal);
    const response = request
      ? await handler(request, { remoteAddr, completed: ended.promise })
      : new Response("The request cannot be understood", { status: 400 });
    await send(response, incoming, outgoing);
  } catch {
    // What went wrong is for the handler to tell; here nothing but the connection is left.
    outgoing.destroy();
  }
}

/** Undefined where the target is no path of this server's. */
function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = "GET", url = "/", rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  }
  const host = headers.get("host") ?? "";
  const base = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).origin : "http://invalid";
  // A whole address may name any host: the header is what was checked.
  const { pathname, search } = URL.parse(url.startsWith("/") ? `${base}${url}` : url) ?? {};
  if (!pathname?.startsWith("/")) return undefined;
  const hasBody = headers.has("transfer-encoding") ||
    Number(headers.get("content-length") ?? 0) > 0;
  const isReading = method === "GET" || method === "HEAD";
  const body = hasBody && !isReading ? bodyOf(incoming) : null;
  return new Request(`${base}${pathname}${search}`, { method, headers, signal, body });
}

/** Read as fast as it is taken. To stop reading leaves the connection open for the answer. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isOver = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (finish: () => void) => {
        if (isOver) return;
        isOver = true;
        finish();
      };
      incoming.on("data", (chunk: Uint8Array) => {
        if (isOver) return;
        controller.enqueue(new Uint8Array(chunk));
        if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
      });
      incoming.on("end", () => end(() => controller.close()));
      incoming.on("error", (error) => end(() => controller.error(error)));
      incoming.on("close", () => end(() => controller.error(new Error("The client has gone"))));
      incoming.pause();
    },
    pull: () => void incoming.resume(),
    cancel() {
      isOver = true;
      incoming.pause();
    },
  });
}

async function send(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  // "close" has been by then, and nobody else ends what feeds the answer.
  if (outgoing.destroyed) return void await response.body?.cancel();
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) {
    if (name !== "set-cookie") outgoing.setHeader(name, value);
  }
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) outgoing.setHeader("set-cookie", cookies);
  // Nobody reads what has not come yet: the next request could not be told from it.
  if (!incoming.complete) outgoing.setHeader("connection", "close");
  // At once, also where the first part of the body takes its time.
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  if (!reader) return void outgoing.end();
  outgoing.once("close", () => void reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (outgoing.destroyed) return;
    if (done) break;
    if (!outgoing.write(value) && !outgoing.destroyed) await drained(outgoing);
  }
  outgoing.end();
}

/** Until there is room for more, or nobody is there to send it to. */
function drained(outgoing: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  outgoing.once("drain", resolve);
  outgoing.once("close", resolve);
  return promise.finally(() => {
    outgoing.off("drain", resolve);
    outgoing.off("close", resolve);
  });
}
