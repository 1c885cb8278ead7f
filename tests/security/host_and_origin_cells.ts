/** How a request has to be refused: by the guard, or because it is no HTTP. */
export type Refusal = "FOREIGN_HOST" | "FOREIGN_ORIGIN" | "NO_HTTP";

/** Header lines, and how they are refused; those without come in. */
export interface Cell {
  lines: string[];
  refusal?: Refusal | undefined;
}

const OWN_HOSTS = ["127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT", "LOCALHOST:PORT"];
const FOREIGN_HOSTS = [
  "evil.example:PORT",
  "127.0.0.1.evil.example:PORT",
  "localhost.:PORT",
  "0.0.0.0:PORT",
  "127.0.0.1:OTHER",
  "2130706433:PORT",
  "evil.example@localhost:PORT",
  "",
];
/** Tried without an origin. */
const MORE_FOREIGN_HOSTS = [
  "evil.example",
  "127.0.0.1",
  "127.0.0.2:PORT",
  "192.168.0.1:PORT",
  "127.1:PORT",
  "0x7f000001:PORT",
  "0177.0.0.1:PORT",
  "[::]:PORT",
  "[::ffff:127.0.0.1]:PORT",
  "localhost:0PORT",
  "localhost:PORT.evil.example",
  "localhost:PORT@evil.example",
  "localhost:PORT/mcp",
  "localhost:PORT, evil.example",
  "local host:PORT",
];

const OWN_ORIGINS = ["http://127.0.0.1:PORT", "http://localhost:PORT", "http://[::1]:PORT"];
const FOREIGN_ORIGINS = [
  "null",
  "file://",
  "https://localhost:PORT",
  "http://localhost:OTHER",
  "http://localhost.:PORT",
  "http://evil.example",
  "http://127.0.0.1.evil.example:PORT",
  "chrome-extension://abcdefghijklmnop",
];
/** Tried at the gateway's own host. */
const MORE_FOREIGN_ORIGINS = [
  "",
  "http://localhost",
  "https://localhost",
  "HTTP://LOCALHOST:PORT",
  "http://localhost:PORT/",
  "http://evil.example:PORT",
  "http://evil.example@localhost:PORT",
  "http://localhost:PORT@evil.example",
  "http://localhost:PORT http://evil.example",
  "http://2130706433:PORT",
  "http://0.0.0.0:PORT",
];

const HOST = "Host: localhost:PORT";
const EVIL_HOST = "Host: evil.example:PORT";

/** Of the others, each route is tried with one in so many. */
const SHARE = 6;

/**
 * Every host with every origin, and what else is worth a try, for a gateway on loopback. With `nth`,
 * those for the nth of many routes: each host once, each origin once, and after twelve routes each
 * with each.
 */
export function cellsFor(method: string, port: number, nth?: number): Cell[] {
  const hosts = [...OWN_HOSTS, ...FOREIGN_HOSTS];
  const origins = [undefined, ...OWN_ORIGINS, ...FOREIGN_ORIGINS];
  const isDue = (index: number, share: number) => nth === undefined || (index + nth) % share === 0;
  const cells = hosts.flatMap((host, row) =>
    origins
      .filter((_, column) => isDue(row + column, origins.length))
      // It is GET without the body: a row and a column of the table tell as much.
      .filter((origin) => method !== "HEAD" || origin === undefined || host === OWN_HOSTS[0])
      .map((origin): Cell => ({
        lines: [`Host: ${host}`, ...origin === undefined ? [] : [`Origin: ${origin}`]],
        refusal: FOREIGN_HOSTS.includes(host)
          ? "FOREIGN_HOST"
          : FOREIGN_ORIGINS.includes(origin ?? "")
          ? "FOREIGN_ORIGIN"
          : undefined,
      }))
  );
  const more: Cell[] = [
    { lines: [], refusal: "FOREIGN_HOST" },
    ...MORE_FOREIGN_HOSTS.map((host): Cell => ({
      lines: [`Host: ${host}`],
      refusal: "FOREIGN_HOST",
    })),
    ...MORE_FOREIGN_ORIGINS.map((origin): Cell => ({
      lines: [HOST, `Origin: ${origin}`],
      refusal: "FOREIGN_ORIGIN",
    })),
    {
      lines: [HOST, "Origin: http://localhost:PORT", "Origin: http://evil.example"],
      refusal: "FOREIGN_ORIGIN",
    },
    {
      lines: [HOST, "Sec-Fetch-Site: cross-site"],
      // A link on another site's page is followed like this: to look changes nothing.
      refusal: method === "GET" ? undefined : "FOREIGN_ORIGIN",
    },
    { lines: [EVIL_HOST, "Sec-Fetch-Site: same-origin"], refusal: "FOREIGN_HOST" },
    { lines: [HOST, EVIL_HOST], refusal: "NO_HTTP" },
    { lines: [EVIL_HOST, HOST], refusal: "NO_HTTP" },
  ];
  cells.push(...more.filter((_, index) => isDue(index, SHARE)));
  const other = String(port + 1);
  return cells.map(({ lines, refusal }) => ({
    lines: lines.map((line) => line.replaceAll("PORT", String(port)).replaceAll("OTHER", other)),
    refusal,
  }));
}
