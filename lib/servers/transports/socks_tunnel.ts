import { pause } from "../../storage/follow.ts";
import { AddressRefused } from "./address_guard.ts";
import { mayConnect } from "./net_permission.ts";

const HANDSHAKE_LIMIT_MS = 5_000;
/** For each address of a host: the next one may answer. */
const CONNECT_LIMIT_MS = 5_000;
/** The owner of a name decides how many addresses it has. */
const MAX_ADDRESSES = 6;
/** The wait after a failed accept. */
const ACCEPT_PAUSE_MS = 100;
const COPY_BYTES = 32 * 1024;
const USER = "quartermaster";

const SOCKS = 5;
const BY_PASSWORD = 2;
const PASSWORD_VERSION = 1;
const CONNECT = 1;
/** The kinds of host in a request. */
const V4 = 1;
const NAME = 3;
const V6 = 4;

const REPLY = {
  done: 0,
  forbidden: 2,
  unreachable: 3,
  notFound: 4,
  refused: 5,
  unsupported: 7,
} as const;

export interface SocksTunnelOptions {
  /** The addresses of a host, all of them allowed; throws AddressRefused. */
  addressesOf(hostname: string, signal: AbortSignal): Promise<string[]>;
  connect?: ((options: Deno.ConnectOptions) => Promise<Deno.TcpConn>) | undefined;
  connectLimitMs?: number | undefined;
  listen?: ((options: Deno.TcpListenOptions) => Deno.TcpListener) | undefined;
}

/**
 * A SOCKS5 proxy for this process only. The platform's fetch resolves names itself and cannot be told
 * where to connect; this proxy connects it to an address that was checked, with no lookup after the
 * check. TLS stays between fetch and the server. Node's client takes a lookup function, but not on
 * Deno 2.5, and it sends a POST again if a reused connection ends (denoland/deno#36786).
 */
export class SocksTunnel implements AsyncDisposable {
  readonly #options: SocksTunnelOptions;
  readonly #listener: Deno.TcpListener;
  /** Other programs on this machine can reach the port; without the password they get no further. */
  readonly #password = crypto.randomUUID();
  readonly #closing = new AbortController();
  readonly #open = new Set<Promise<void>>();
  readonly #accepting: Promise<void>;

  private constructor(options: SocksTunnelOptions, listener: Deno.TcpListener) {
    this.#options = options;
    this.#listener = listener;
    this.#accepting = this.#accept();
  }

  static open(options: SocksTunnelOptions): SocksTunnel {
    const { listen = Deno.listen } = options;
    return new SocksTunnel(options, listen({ hostname: "127.0.0.1", port: 0 }));
  }

  get proxy(): Deno.Proxy {
    return {
      url: `socks5h://127.0.0.1:${this.#listener.addr.port}`,
      basicAuth: { username: USER, password: this.#password },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#listener.close();
    await this.#accepting;
    await Promise.all(this.#open);
  }

  async #accept(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const near = await this.#listener.accept();
        const work: Promise<void> = this.#serve(near).finally(() => this.#open.delete(work));
        this.#open.add(work);
      } catch {
        // Unless we closed it, this passes: too many open files, for example.
        await pause(ACCEPT_PAUSE_MS, signal);
      }
    }
  }

  async #serve(near: Deno.TcpConn): Promise<void> {
    const { signal } = this.#closing;
    const ends: Deno.TcpConn[] = [near];
    const close = () => ends.splice(0).forEach(closeQuietly);
    signal.addEventListener("abort", close);
    const limit = setTimeout(close, HANDSHAKE_LIMIT_MS);
    try {
      near.setNoDelay();
      const wanted = await this.#greet(near);
      clearTimeout(limit);
      const far = wanted && await this.#connect(near, wanted);
      if (!far) return;
      ends.push(far);
      if (signal.aborted) return;
      far.setNoDelay();
      await Promise.race([copy(near, far), copy(far, near)]);
    } catch {
      // One side broke off, or does not speak SOCKS: both connections end.
    } finally {
      clearTimeout(limit);
      signal.removeEventListener("abort", close);
      close();
    }
  }

  /** The requested host and port, if the password is right. */
  async #greet(conn: Deno.TcpConn): Promise<{ hostname: string; port: number } | undefined> {
    const [version = 0, count = 0] = await readExactly(conn, 2);
    const methods = await readExactly(conn, count);
    if (version !== SOCKS || !methods.includes(BY_PASSWORD)) return undefined;
    await writeAll(conn, Uint8Array.of(SOCKS, BY_PASSWORD));
    await readExactly(conn, 1);
    const user = await readText(conn);
    const password = await readText(conn);
    const isOurs = user === USER && password === this.#password;
    await writeAll(conn, Uint8Array.of(PASSWORD_VERSION, isOurs ? 0 : 1));
    if (!isOurs) return undefined;
    const [, command, , kind = 0] = await readExactly(conn, 4);
    const hostname = await readHost(conn, kind);
    const [high = 0, low = 0] = await readExactly(conn, 2);
    if (command === CONNECT && hostname !== undefined) return { hostname, port: high * 256 + low };
    await reply(conn, REPLY.unsupported);
    return undefined;
  }

  async #connect(
    near: Deno.TcpConn,
    { hostname, port }: { hostname: string; port: number },
  ): Promise<Deno.TcpConn | undefined> {
    const { signal } = this.#closing;
    let addresses: string[];
    try {
      addresses = await this.#options.addressesOf(hostname, signal);
    } catch (error) {
      await reply(near, error instanceof AddressRefused ? REPLY.forbidden : REPLY.notFound);
      return undefined;
    }
    let failure: number = REPLY.notFound;
    // IPv4 first: many names have an IPv6 address that cannot be reached from here.
    const inOrder = addresses.toSorted((a, b) => Number(isV6(a)) - Number(isV6(b)));
    for (const address of inOrder.slice(0, MAX_ADDRESSES)) {
      const far = mayConnect(address)
        ? await this.#connectTo(address, port)
        : await this.#connectByName(hostname, addresses, port);
      if (typeof far === "number") {
        failure = far;
        continue;
      }
      try {
        await reply(near, REPLY.done);
        return far;
      } catch (error) {
        far.close();
        throw error;
      }
    }
    await reply(near, failure);
    return undefined;
  }

  /** If only the name is permitted; nothing is sent to an address that was not checked. */
  async #connectByName(
    hostname: string,
    addresses: readonly string[],
    port: number,
  ): Promise<Deno.TcpConn | number> {
    const far = await this.#connectTo(hostname, port);
    if (typeof far === "number" || addresses.includes(far.remoteAddr.hostname)) return far;
    far.close();
    return REPLY.forbidden;
  }

  async #connectTo(hostname: string, port: number): Promise<Deno.TcpConn | number> {
    const { connect = Deno.connect, connectLimitMs = CONNECT_LIMIT_MS } = this.#options;
    const limit = AbortSignal.timeout(connectLimitMs);
    const signal = AbortSignal.any([this.#closing.signal, limit]);
    try {
      return await connect({ hostname, port, signal });
    } catch (error) {
      return error instanceof Deno.errors.ConnectionRefused ? REPLY.refused : REPLY.unreachable;
    }
  }
}

function isV6(address: string): boolean {
  return address.includes(":");
}

async function readHost(conn: Deno.TcpConn, kind: number): Promise<string | undefined> {
  if (kind === NAME) return await readText(conn);
  if (kind === V4) return (await readExactly(conn, 4)).join(".");
  if (kind !== V6) return undefined;
  const bytes = await readExactly(conn, 16);
  const groups = Array.from({ length: 8 }, (_, at) => bytes.subarray(at * 2, at * 2 + 2).toHex());
  return `[${groups.join(":")}]`;
}

async function readText(conn: Deno.TcpConn): Promise<string> {
  const [length = 0] = await readExactly(conn, 1);
  return new TextDecoder().decode(await readExactly(conn, length));
}

async function readExactly(conn: Deno.TcpConn, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const read = await conn.read(bytes.subarray(at));
    if (read === null) throw new Error("The connection ended");
    at += read;
  }
  return bytes;
}

async function writeAll(conn: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}

/** SOCKS ends a reply with an address; clients ignore it after CONNECT. */
function reply(conn: Deno.TcpConn, code: number): Promise<void> {
  return writeAll(conn, Uint8Array.of(SOCKS, code, 0, V4, 0, 0, 0, 0, 0, 0));
}

async function copy(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
  const buffer = new Uint8Array(COPY_BYTES);
  for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
    await writeAll(to, buffer.subarray(0, read));
  }
}

function closeQuietly(conn: Deno.TcpConn): void {
  try {
    conn.close();
  } catch {
    // Already closed.
  }
}
