import { OWNER } from "../auth/owner_ticket.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerAsker } from "../surfaces/server_asker.ts";
import { isLoopback } from "../core/loopback.ts";

/** A request with what is known of who makes it, and of where the gateway is reached. */
export interface Asking {
  req: Request;
  info: Deno.ServeHandlerInfo;
  state: {
    principal: string;
    gateway: { options: { options: { host: string; publicUrl?: string | undefined } } };
  };
}

/**
 * Whether a request comes from this machine itself. To run a program of the caller's choice is to
 * hand over the machine, so that neither a neighbor in the network nor a proxy's guest may ask it.
 */
export function isFromHere({ req, info, state }: Asking): boolean {
  const { host: ownHost, publicUrl } = state.gateway.options.options;
  // There is a proxy then, and one that hides itself makes everybody look local. Only who can read
  // the store has the owner's ticket.
  if (isKnownToOthers(publicUrl)) return state.principal === OWNER;
  const peer = "hostname" in info.remoteAddr ? info.remoteAddr.hostname : "";
  const named = new URL(`http://${req.headers.get("host")}`).hostname;
  const isOwn = (host: string) => {
    const plain = host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:/, "");
    return isLoopback(plain) || plain === ownHost;
  };
  // A proxy that renames the host leaves a browser's word for whose page it is.
  const origin = req.headers.get("origin");
  const isOwnPage = origin === null || isOwn(URL.parse(origin)?.hostname ?? "");
  return isOwn(peer) && isOwn(named) && isOwnPage && !isForwarded(req);
}

/** Whether the address that the gateway is known by is one of another host than this machine. */
export function isKnownToOthers(publicUrl: string | undefined): boolean {
  return publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);
}

/** What nearly every proxy tells of itself by. */
const USUAL = [
  "x-forwarded-for",
  "forwarded",
  "via",
  "x-real-ip",
  "x-forwarded-host",
  "x-forwarded-proto",
];

/**
 * Whether a proxy says in one of the usual ways that it passes this on. For the path of every call:
 * these are asked for by value, because to look whether a header is there has all of them copied.
 */
export function isPlainlyForwarded({ headers }: Request): boolean {
  for (const name of USUAL) if (headers.get(name) !== null) return true;
  return false;
}

/** Whether a proxy says so in any way. */
export function isForwarded(request: Request): boolean {
  return isPlainlyForwarded(request) ||
    request.headers.keys().some((name) => name.startsWith("x-forwarded"));
}

/**
 * Throws TOKEN_REQUIRED for a proxy's guest. Without a token one is trusted for being on this
 * machine, which a guest is not: it could even agree, in its own client, to the programs that it
 * has us run.
 */
export function refuseGuest(request: Request, isGuest = isForwarded): void {
  if (!isGuest(request)) return;
  throw new GatewayError("TOKEN_REQUIRED", {
    message: "Cannot let you in without a token: you come through a proxy, and only on the " +
      "gateway's own machine none is needed",
    recoverySteps: [
      "Make a token on that machine: " +
      "`deno task cli token create --name me --rights read,call,manage`",
      "Send it as `Authorization: Bearer TOKEN`, or log in to the console with it",
      "Start the gateway with `--public-url` and the address that the proxy has",
    ],
  });
}

/** Who asks for a server, and whether it is for them to run programs. */
export function serverAsker(asking: Asking, via: "api" | "console"): ServerAsker {
  const { req, info, state } = asking;
  return {
    via,
    principal: state.principal,
    from: addressOf(req, info),
    isHere: isFromHere(asking),
  };
}

/** Where a connection comes from, and for whom a proxy says that it passes a request on. */
export function addressOf(request: Request, { remoteAddr }: Deno.ServeHandlerInfo): string {
  const peer = "hostname" in remoteAddr ? remoteAddr.hostname : "";
  // Anybody can write this; where a proxy is in between it is all there is, and what the proxy
  // knows itself is at its end.
  const forwarded = request.headers.get("x-forwarded-for") ?? request.headers.get("forwarded");
  return forwarded === null ? peer : `${peer}, forwarded for ${shownForwarded(forwarded)}`;
}

/** An address as it is; anything else so that it passes for nothing else. */
function shownForwarded(text: string): string {
  const last = text.slice(-100);
  return last === text && /^[\w.:[\]]+$/.test(text) ? text : JSON.stringify(last);
}
