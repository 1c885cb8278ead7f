import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { lookup } from "node:dns/promises";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { type AddressGuard, closedHost } from "../../transports/address_guard.ts";
import { mayConnect, NOT_PERMITTED } from "../../transports/net_permission.ts";

const MAX_HEAD = 16 * 1024;
const HEAD_MS = 10_000;
const CONNECT_MS = 10_000;
/** A program must not use up the gateway's file descriptors. */
const MAX_CONNECTIONS = 64;
const USUAL_PORTS = [80, 443];

/** Names a folder with the only places where this process may open a socket file. */
export const SOCKETS_VARIABLE = "QUARTERMASTER_SOCKETS";
const MAX_SOCKETS = 64;

/** The places for sockets in such a folder. */
export function socketsIn(folder: string): string[] {
  return Array.from({ length: MAX_SOCKETS }, (_, index) => join(folder, `${index}.sock`));
}

interface EgressOptions {
  /** `example.com`, for the ports of http and https, or `example.com:8443`. */
  hosts: readonly string[];
  /** Undefined if names may lead into private networks. */
  guard: Pick<AddressGuard, "addressesOf"> | undefined;
  onRefused(message: string): void;
}

interface Target {
  hostname: string;
  port: number;
  /** What the server gets of the request's head; empty for a tunnel. */
  head: string;
}

/**
 * An HTTP proxy on a socket file, which alone leads out of a sandbox. It connects to hosts of the list
 * and, if the owner named them, to closed addresses; a name that leads to one is refused.
 */
export class EgressProxy implements AsyncDisposable {
  readonly socket: string;
  readonly #options: EgressOptions;
  /** Removed with the proxy. */
  readonly #place: string;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(options: EgressOptions, { socket, place }: SocketPlace) {
    this.#options = options;
    this.#place = place;
    this.socket = socket;
    this.#server = createServer((near) => void this.#serve(near));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  static async open(options: EgressOptions): Promise<EgressProxy> {
    const proxy = new EgressProxy(options, await findSocketPlace());
    proxy.#server.listen(proxy.socket);
    await once(proxy.#server, "listening");
    return proxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await Deno.remove(this.#place, { recursive: true }).catch(() => {});
  }

  async #serve(near: Socket): Promise<void> {
    this.#track(near);
    try {
      const { head, rest } = await readHead(near);
      const target = targetOf(head);
      if (target === undefined) return answer(near, "400 Bad Request", "not a proxy request");
      const addresses = await this.#addressesOf(target);
      if (typeof addresses === "string") {
        this.#options.onRefused(addresses);
        return answer(near, "403 Forbidden", addresses);
      }
      const far = await this.#connect(addresses, target);
      if (!far) return answer(near, "502 Bad Gateway", `cannot connect to ${target.hostname}`);
      if (target.head === "") near.write("HTTP/1.1 200 Connection established\r\n\r\n");
      far.write(target.head);
      far.write(rest);
      pipeline(near, far, near, () => {
        near.destroy();
        far.destroy();
      });
    } catch {
      near.destroy();
    }
  }

  /** Where to connect, or why not. */
  async #addressesOf({ hostname, port }: Target): Promise<string[] | string> {
    const { hosts, guard } = this.#options;
    const ports = USUAL_PORTS.includes(port)
      ? [hostname, `${hostname}:${port}`]
      : [`${hostname}:${port}`];
    if (!hosts.some((host) => ports.includes(host.toLowerCase()))) {
      return `${hostname}:${port} is not among the hosts under "net" in its isolation`;
    }
    if (!mayConnect(hostname)) return `${hostname}: ${NOT_PERMITTED}`;
    // The owner wrote this very address, or a name that can mean no other.
    if (!guard || closedHost(hostname) !== undefined) {
      const found = await lookup(hostname.replace(/^\[|\]$/g, ""), { all: true });
      return found.map(({ address }) => address);
    }
    try {
      return await guard.addressesOf(hostname);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  async #connect(
    addresses: readonly string[],
    { hostname, port }: Target,
  ): Promise<Socket | undefined> {
    // By name if only the name is permitted; nothing is sent to an address that was not checked.
    const hosts = mayConnect(addresses[0] ?? "") ? addresses : [hostname];
    for (const host of hosts) {
      const far = connect({ host, port });
      this.#track(far);
      try {
        await once(far, "connect", { signal: AbortSignal.timeout(CONNECT_MS) });
        if (!addresses.includes(far.remoteAddress ?? "")) throw new Error("Another address");
        return far;
      } catch {
        far.destroy();
      }
    }
    return undefined;
  }

  #track(socket: Socket): void {
    this.#open.add(socket);
    socket.on("close", () => this.#open.delete(socket));
    // Destroying the socket also emits `close` to its other listeners.
    socket.on("error", () => socket.destroy());
  }
}

interface SocketPlace {
  socket: string;
  /** The socket itself, or the folder that only it is in. */
  place: string;
}

/** A place that only this user can read. */
async function findSocketPlace(): Promise<SocketPlace> {
  const folder = Deno.env.get(SOCKETS_VARIABLE);
  if (folder === undefined) {
    const place = await Deno.makeTempDir({ prefix: "quartermaster_proxy_" });
    return { socket: join(place, "proxy.sock"), place };
  }
  for (const socket of socketsIn(folder)) {
    const isTaken = await Deno.lstat(socket).then(() => true, () => false);
    if (!isTaken) return { socket, place: socket };
  }
  throw new Error(`with --harden, at most ${MAX_SOCKETS} programs in sandboxes can have a "net"`);
}

/** The head of a request, and what came after it. */
function readHead(near: Socket): Promise<{ head: string; rest: Uint8Array }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ head: string; rest: Uint8Array }>();
  const limit = setTimeout(() => reject(new Error("No request came")), HEAD_MS);
  let text = "";
  const onData = (bytes: Uint8Array) => {
    text += latin1(bytes);
    const end = text.indexOf("\r\n\r\n");
    if (end === -1 && text.length > MAX_HEAD) return reject(new Error("The head is too long"));
    if (end === -1) return;
    near.off("data", onData);
    near.pause();
    const rest = Uint8Array.from(text.slice(end + 4), (char) => char.charCodeAt(0));
    resolve({ head: text.slice(0, end), rest });
  };
  near.on("data", onData);
  near.on("close", () => reject(new Error("The connection ended")));
  return promise.finally(() => clearTimeout(limit));
}

function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

function targetOf(head: string): Target | undefined {
  const [line = "", ...headers] = head.split("\r\n");
  const [, method, target = ""] = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/.exec(line) ?? [];
  if (method === undefined) return undefined;
  const url = URL.parse(method === "CONNECT" ? `http://${target}` : target);
  if (url?.protocol !== "http:") return undefined;
  const { hostname } = url;
  const place = { hostname: hostname.replace(/\.$/, ""), port: Number(url.port || 80) };
  if (method === "CONNECT") return { ...place, head: "" };
  // One request a connection: the next one may be for another host, which has to be looked at.
  const kept = headers.filter((header) =>
    !/^(?:proxy-[\w-]+|connection|keep-alive):/i.test(header)
  );
  const first = `${method} ${url.pathname}${url.search} HTTP/1.1`;
  return { ...place, head: [first, ...kept, "Connection: close", "", ""].join("\r\n") };
}

function answer(near: Socket, status: string, text: string): void {
  const body = `Quartermaster: ${text}\n`;
  const headers = [
    `HTTP/1.1 ${status}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${new TextEncoder().encode(body).length}`,
    "Connection: close",
  ];
  near.end([...headers, "", body].join("\r\n"));
}
