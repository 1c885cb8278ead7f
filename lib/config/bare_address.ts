const BARE = /^((?:[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?)|\[[\da-f:.]+\]):(\d{1,5})(?:[/?#]\S*)?$/i;
const LOCAL = /^[^.]+$|^[\d.]+$|^\[|\.(?:localhost|local|lan|internal|home\.arpa)$/i;
const SECURE_PORTS = new Set(["443", "8443"]);

/** An address that was written as a browser takes it, without its scheme. */
export interface CompletedAddress {
  url: string;
  /** What was made of it, for the person who wrote it. */
  note: string;
}

/**
 * Completes `host:port` and `host:port/path`; undefined for anything else. Without a port it could
 * as well be a program's path. Names of the open internet get https, so that no credential goes
 * there in the clear; what is close by rarely has a certificate.
 */
export function completeAddress(text: string): CompletedAddress | undefined {
  const [, host, port] = BARE.exec(text) ?? [];
  if (host === undefined || port === undefined) return undefined;
  const isPlain = !SECURE_PORTS.has(port) && (port === "80" || LOCAL.test(host));
  const scheme = isPlain ? "http" : "https";
  const url = `${scheme}://${text}`;
  if (!URL.canParse(url)) return undefined;
  // A query may hold a key, which notes must not show.
  const shown = url.split(/[?#]/)[0];
  const other = isPlain ? "https" : "http";
  return {
    url,
    note: `Taken for ${shown}: a host and a port are an address. ` +
      `Write ${other}:// before it if that is meant`,
  };
}
