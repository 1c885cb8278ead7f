import { OWNER } from "../auth/credentials.ts";
import { hasPublicUrl, isLoopback } from "../config/address.ts";
import { hostOf, type HttpRequest } from "./exchange.ts";
import { isForwarded } from "./guard.ts";

/** A request of the console or the API, with its caller and the gateway's addresses. */
interface ConsoleRequest {
  req: Request;
  info: Deno.ServeHandlerInfo;
  state: {
    principal: string;
    gateway: { options: { options: { host: string; publicUrl?: string | undefined } } };
  };
}

/**
 * Whether a request comes from this machine. Running a program of the caller's choice hands over the
 * machine, so nobody else in the network and nobody behind a proxy may request it.
 */
export function isFromThisMachine({ req, info, state }: ConsoleRequest): boolean {
  const { host: ownHost, publicUrl } = state.gateway.options.options;
  // Then there is a proxy, and one that hides itself makes every request look local. Only those who
  // can read the store have the owner's ticket.
  if (hasPublicUrl(publicUrl)) return state.principal === OWNER;
  const peer = peerOf(info);
  const named = new URL(`http://${hostOf(req)}`).hostname;
  const isOwn = (host: string) => {
    const plain = host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:/, "");
    return isLoopback(plain) || plain === ownHost;
  };
  // A proxy that rewrites Host leaves the browser's Origin.
  const origin = req.headers.get("origin");
  const isOwnPage = origin === null || isOwn(URL.parse(origin)?.hostname ?? "");
  return isOwn(peer) && isOwn(named) && isOwnPage && !isForwarded(req);
}

/** The other end of a connection: behind a proxy, the proxy. */
export function peerOf(info: Deno.ServeHandlerInfo | undefined): string {
  const address = info?.remoteAddr;
  return address && "hostname" in address ? address.hostname : "";
}

/** Where a connection comes from, and for whom a proxy forwards the request, if it says so. */
export function addressOf(request: HttpRequest, info: Deno.ServeHandlerInfo): string {
  const peer = peerOf(info);
  // Anybody can write this header; behind a proxy it is all there is, and the proxy's own part is at
  // its end.
  const forwarded = request.headers.get("x-forwarded-for") ?? request.headers.get("forwarded");
  return forwarded === null ? peer : `${peer}, forwarded for ${shownForwarded(forwarded)}`;
}

/** An address unchanged; anything else in quotes, so that it does not pass for an address. */
function shownForwarded(text: string): string {
  const last = text.slice(-100);
  return last === text && /^[\w.:[\]]+$/.test(text) ? text : JSON.stringify(last);
}
