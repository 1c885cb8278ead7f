import { BlockList } from "node:net";
import { abortable } from "../../core/async.ts";

const LOOKUP_LIMIT_MS = 10_000;

type Family = "ipv4" | "ipv6";
type Networks = Record<Family, BlockList>;

const THIS_MACHINE = "this machine";
const METADATA = "a cloud's metadata service";
const INSIDE_ANOTHER = "an IPv4-over-IPv6 network";

/** Networks that are not on the open internet, by their usual name; the more telling ones first. */
const CLOSED: [name: string, Networks][] = [
  [
    METADATA,
    networks(
      "169.254.169.254/32 169.254.170.2/32 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32",
      "fd00:ec2::254/128 fd20:ce::254/128",
    ),
  ],
  [THIS_MACHINE, networks("127.0.0.0/8 0.0.0.0/8", "::1/128 ::/128")],
  [
    "a private network",
    networks("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10", "fc00::/7 fec0::/10"),
  ],
  ["a link-local network", networks("169.254.0.0/16", "fe80::/10")],
  ["a multicast group", networks("224.0.0.0/4", "ff00::/8")],
  // Teredo among them; what is inside could be anything above.
  [INSIDE_ANOTHER, networks("", "::/96 ::ffff:0:0/96 2002::/16 2001::/32")],
  [
    "a reserved network",
    networks(
      "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4",
      "2001::/23 2001:db8::/32 3fff::/20",
    ),
  ],
];
/** Of IPv6, only this is ever given to machines that everybody can reach. */
const OPEN = networks("", "2000::/3");
/** IPv4 as a network without it writes it (NAT64): names of public servers resolve to these there. */
const NAT64 = networks("", "64:ff9b::/96");

/** Names that mean such an address by themselves, whatever a resolver says. */
const CLOSED_NAMES: [RegExp, string][] = [
  [/(^|\.)localhost(\.localdomain)?$|^ip6-(localhost|loopback)$/, THIS_MACHINE],
  [/^metadata(\.google\.internal|\.goog)?$|^instance-data(\.ec2\.internal)?$/, METADATA],
];

function closedNetwork(address: string): string | undefined {
  if (address.includes("%")) return "a link-local network";
  const family = address.includes(":") ? "ipv6" : "ipv4";
  if (family === "ipv6" && NAT64.ipv6.check(address, "ipv6")) {
    return closedNetwork(embedded(address));
  }
  const found = CLOSED.find(([, networks]) => networks[family].check(address, family));
  if (found) return found[0];
  return family === "ipv4" || OPEN.ipv6.check(address, "ipv6") ? undefined : "a reserved network";
}

/** Why a host as it is written is not out in the open; nothing is looked up. */
export function closedHost(hostname: string): string | undefined {
  const address = literalAddress(hostname);
  if (address !== undefined) return closedNetwork(address);
  const name = hostname.toLowerCase().replace(/\.+$/, "");
  return CLOSED_NAMES.find(([pattern]) => pattern.test(name))?.[1];
}

/** Whether a host as it is written is this machine, or an address that may hold its own. */
export function mayBeThisMachine(hostname: string): boolean {
  const network = closedHost(hostname);
  return network === THIS_MACHINE || network === INSIDE_ANOTHER;
}

/** The host as an address, if it is not a name: a URL has one form for all spellings. */
export function literalAddress(hostname: string): string | undefined {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : undefined;
}

/** How a person can allow it after all. */
export const ALLOWING = [
  "Add the server on the gateway's own machine, in the console or with " +
  "`quartermaster server add`",
  "Or add it to the config file",
  "Or start the gateway with --allow-private",
];

export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

export type Resolve = (hostname: string) => Promise<string[]>;

export class AddressGuard {
  readonly #resolve: Resolve;

  constructor(resolve: Resolve = lookUp) {
    this.#resolve = resolve;
  }

  /** The addresses of a host, all of them open; throws AddressRefused where one is not. */
  async addressesOf(hostname: string, signal?: AbortSignal): Promise<string[]> {
    const written = closedHost(hostname);
    if (written !== undefined) throw refused(hostname, hostname, written);
    const literal = literalAddress(hostname);
    if (literal !== undefined) return [literal];
    const limit = AbortSignal.timeout(LOOKUP_LIMIT_MS);
    const found = await abortable(
      this.#resolve(hostname),
      signal ? AbortSignal.any([signal, limit]) : limit,
    );
    for (const address of found) {
      const network = closedNetwork(address);
      // One is enough: who controls the name decides which of them is tried.
      if (network !== undefined) throw refused(hostname, address, network);
    }
    return found;
  }

  /** Why a URL may not be reached, where that is known without connecting. */
  async refusalOf({ hostname }: URL): Promise<string | undefined> {
    try {
      await this.addressesOf(hostname);
    } catch (error) {
      if (error instanceof AddressRefused) return error.message;
      // If a name is not found, the connection reports it.
    }
    return undefined;
  }
}

/** The system's own way, which knows its hosts file and its networks. */
async function lookUp(hostname: string): Promise<string[]> {
  const { lookup } = await import("node:dns/promises");
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
}

function refused(hostname: string, address: string, network: string): AddressRefused {
  const plain = literalAddress(address) ?? address;
  const place = plain === (literalAddress(hostname) ?? hostname)
    ? `${plain} is an address of ${network}`
    : `${hostname} resolves to ${plain}, an address of ${network}`;
  return new AddressRefused(`${place}, which is not allowed for servers added at run time`);
}

function networks(v4: string, v6: string): Networks {
  return { ipv4: listOf(v4, "ipv4"), ipv6: listOf(v6, "ipv6") };
}

function listOf(subnets: string, family: Family): BlockList {
  const list = new BlockList();
  for (const subnet of subnets.split(" ").filter((text) => text !== "")) {
    const [network = "", prefix] = subnet.split("/");
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

function embedded(address: string): string {
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const groups = plain.slice(plain.lastIndexOf("::") + 2).split(":").map((group) =>
    parseInt(group, 16) || 0
  );
  const [low = 0, high = 0] = groups.reverse();
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
