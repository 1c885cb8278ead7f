import type { ConfigProblem } from "../config/files.ts";
import { isStarting, type ServerState, type ServerStatus } from "../core/server.ts";
import type { StatusCounts } from "./ui/live.ts";
import type { Gateway } from "../gateway.ts";
import { capitalized } from "./ui/format.ts";
import {
  IMPORT_TOOLSETS,
  isCurrentPage,
  NEW_SERVER,
  NEW_TOOLSET,
  optimizationPath,
  OPTIMIZE_ALL,
  PAGES,
  pathParts,
  RESTORE_BACKUP,
  SECURITY_PAGES,
  serverPath,
  toolsetPath,
} from "./ui/pages.ts";
import { EVERYONE } from "../core/access.ts";
import type { PaletteIndex } from "./ui/palette.ts";

export interface Frame {
  counts: StatusCounts;
  /** The port, or the host where the gateway stands behind a name. */
  place: string;
  address: string;
  isOptimizing: boolean;
  version: string;
  /** What the page hears everything after; undefined where it was not made as others are. */
  madeAt?: string;
}

export function frameOf(
  gateway: Pick<
    Gateway,
    "servers" | "problems" | "address" | "version" | "isOptimizing" | "toolsets"
  >,
  madeAt?: string,
  security = 0,
): Frame {
  const { address, version } = gateway;
  return {
    counts: {
      ...countStatus(gateway.servers.list(), gateway.problems),
      toolsets: gateway.toolsets.toolsets.list().length,
      security,
    },
    place: placeOf(address),
    address,
    isOptimizing: gateway.isOptimizing(),
    version,
    ...(madeAt === undefined ? {} : { madeAt }),
  };
}

function placeOf(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  return url.port === "" ? url.host : `:${url.port}`;
}

export interface Crumb {
  label: string;
  /** Missing on the last one: that is where the reader is. */
  href?: string;
  /** A name that comes from a server, shown in the monospace face. */
  isName: boolean;
}

/** Pages that stand where a server or a toolset would. */
const STEPS: Record<string, string> = {
  [NEW_SERVER]: "Add server",
  [NEW_TOOLSET]: "New toolset",
  [IMPORT_TOOLSETS]: "Import",
  [RESTORE_BACKUP]: "Restore a backup",
  [OPTIMIZE_ALL]: "All servers",
};

/** Pages of optimization that stand where a server would, and what is below them. */
const OPTIMIZATION_STEPS: Record<string, string> = {
  "~jobs": "Job",
  "~comparisons": "With and without",
  "~proposals": "Prompts from traffic",
};

const SERVER_STEPS: Record<string, string> = {
  "~tools": "Configure tools",
  "~edit": "Edit",
  "~login": "Log in",
};

const plain = (label: string): Crumb => ({ label, isName: false });

/** From the page in the rail down to the thing shown. */
export function crumbsOf(pathname: string): Crumb[] {
  const page = PAGES.find((page) => isCurrentPage(page, pathname));
  const parts = pathParts(pathname);
  if (page === undefined || parts === undefined) return [plain("Not found")];
  const [, name, tool] = parts;
  if (name === undefined) return [plain(page.label)];
  const step = STEPS[pathname] ?? OPTIMIZATION_STEPS[name];
  const rest = step === undefined ? detailCrumbs(page.path, pathname, name, tool) : [plain(step)];
  return [{ ...plain(page.label), href: page.path }, ...rest];
}

function detailCrumbs(page: string, pathname: string, name: string, tool?: string): Crumb[] {
  if (page === "/security") {
    const known = SECURITY_PAGES.find(({ path }) => path === pathname);
    return [plain(known?.label ?? capitalized(name))];
  }
  const named = { label: name, isName: true };
  if (tool === undefined) return [named];
  const last = { label: tool, isName: true };
  switch (page) {
    case "/optimization":
      return [{ ...named, href: optimizationPath(name) }, last];
    case "/tools":
      return [{ ...named, href: `/tools?${new URLSearchParams({ server: name })}` }, last];
    case "/toolsets":
      return [{ ...named, href: toolsetPath(name) }, plain(capitalized(tool))];
    default: {
      const step = SERVER_STEPS[tool];
      return [{ ...named, href: serverPath(name) }, step === undefined ? last : plain(step)];
    }
  }
}

export interface WaitingCounts {
  review: number;
  approvals: number;
  consents: number;
}

export type WaitingGateway = Pick<
  Gateway,
  "review" | "approvals" | "consents" | "waitingUpdates"
>;

/** Cheap enough for every page; a store that fails says so itself, there too. */
export async function waitingCounts(gateway: WaitingGateway): Promise<WaitingCounts> {
  const [approvals, consents] = await Promise.all([
    gateway.approvals().then(async (waiting) => (await waiting.list()).length),
    gateway.consents().then((waiting) => waiting.count()).catch(() => 0),
  ]);
  const review = gateway.review.count().total + gateway.waitingUpdates();
  return { review, approvals, consents };
}

export function totalWaiting({ review, approvals, consents }: WaitingCounts): number {
  return review + approvals + consents;
}

/** What the palette can find besides pages: names only, so that thousands stay small. */
export function paletteIndex(
  gateway: Pick<Gateway, "servers" | "toolsets">,
  principal = EVERYONE,
): PaletteIndex {
  const servers = gateway.servers.list().map(({ name, state }) => ({
    name,
    state,
    tools: gateway.servers.tools(name).map((tool) => tool.name),
  }));
  const { toolsets } = gateway.toolsets;
  const equipped = toolsets.equippedBy(principal)?.name;
  return {
    servers,
    toolsets: toolsets.list().map(({ name }) => ({ name, isEquipped: name === equipped })),
  };
}

const NEEDS_ATTENTION: ReadonlySet<ServerState> = new Set(["failed", "degraded", "needs_login"]);

export function needsAttention(server: ServerStatus): boolean {
  return NEEDS_ATTENTION.has(server.state);
}

export function countStatus(
  servers: readonly ServerStatus[],
  problems: readonly ConfigProblem[],
): StatusCounts {
  const counts = { servers: servers.length, ready: 0, starting: 0, tools: 0, attention: 0 };
  for (const server of servers) {
    if (server.state === "ready") counts.ready++;
    if (isStarting(server.state)) counts.starting++;
    if (needsAttention(server)) counts.attention++;
    counts.tools += server.toolCount;
  }
  // A problem of one server shows in that server's state already.
  counts.attention +=
    problems.filter(({ severity, server }) => severity === "error" && !server).length;
  return counts;
}
