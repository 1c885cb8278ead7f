import type { IconName } from "../../../components/icon.tsx";
import { stateLook } from "../../../components/server_state.tsx";
import { isFailing, isSlow } from "../../../lib/console/attention.ts";
import { needsAttention } from "../../../lib/console/frame.ts";
import { compareText } from "../../../lib/console/lists.ts";
import { formatCount, formatLatency, formatNumber } from "../../../lib/console/ui/format.ts";
import { clientPath, serverPath } from "../../../lib/console/ui/pages.ts";
import { isStarting, type ServerStatus } from "../../../lib/core/server.ts";
import type { ConnectedClient } from "../../../lib/mcp/clients.ts";
import type { ServerTimes } from "../../../lib/telemetry/call_stats.ts";

/** One place on the map: a client, a server, or several that would only be in the way. */
export interface MapNode {
  label: string;
  href: string;
  /** What is to be known of it, in two or three words. */
  note: string;
  tone: "ok" | "warn" | "bad" | "quiet";
  icon: IconName;
  /** The names of its servers, or the ids of its clients. */
  members: string[];
  calls: number;
}

export type LiveMapData = Record<"clients" | "servers", MapNode[]>;

const MOST_CLIENTS = 6;
const MOST_SERVERS = 12;

interface MapInput {
  clients: readonly ConnectedClient[];
  /** Whether the reader may know who is connected. */
  mayManage: boolean;
  servers: readonly ServerStatus[];
  times: readonly ServerTimes[];
}

export function mapOf({ clients, mayManage, servers, times }: MapInput): LiveMapData {
  const connected = clients.filter(({ endedAt }) => endedAt === undefined);
  return {
    clients: mayManage ? clientNodes(connected) : grouped(connected.map(clientNode), "client", ""),
    servers: serverNodes(servers, new Map(times.map((each) => [each.server, each]))),
  };
}

function clientNode({ id, name, calls, errors }: ConnectedClient): MapNode {
  return {
    label: name,
    href: clientPath(id),
    note: errors > 0 ? `${formatNumber(errors)} failed` : formatCount(calls, "call"),
    tone: errors > 0 ? "warn" : "quiet",
    icon: errors > 0 ? "alert" : "monitor",
    members: [id],
    calls,
  };
}

function clientNodes(connected: readonly ConnectedClient[]): MapNode[] {
  const nodes = connected.map(clientNode).sort((a, b) =>
    b.calls - a.calls || compareText(a.label, b.label)
  );
  if (nodes.length <= MOST_CLIENTS) return nodes;
  const shown = nodes.slice(0, MOST_CLIENTS - 1);
  return [...shown, ...grouped(nodes.slice(shown.length), "more client", "/clients")];
}

/** Those that need attention first, then the busiest; the idle ones of many are one node. */
function serverNodes(
  servers: readonly ServerStatus[],
  times: ReadonlyMap<string, ServerTimes>,
): MapNode[] {
  const rank = ({ tone, calls }: MapNode) =>
    (tone === "bad" ? 2e9 : tone === "warn" ? 1e9 : 0) + calls;
  const nodes = servers.map((server) => serverNode(server, times.get(server.name)))
    .sort((a, b) => rank(b) - rank(a) || compareText(a.label, b.label));
  if (nodes.length <= MOST_SERVERS) return nodes;
  const isNotable = (node: MapNode) => rank(node) > 0;
  const shown = nodes.filter(isNotable).slice(0, MOST_SERVERS - 2);
  const rest = nodes.slice(shown.length);
  return [
    ...shown,
    ...grouped(rest.filter(isNotable), "more in use", "/servers", "more in use"),
    ...grouped(rest.filter((node) => !isNotable(node)), "idle server", "/servers"),
  ];
}

function serverNode(server: ServerStatus, times: ServerTimes | undefined): MapNode {
  const calls = times?.calls ?? 0;
  const node = { label: server.name, href: serverPath(server.name), members: [server.name], calls };
  const { word, icon, tone } = stateLook(server.state);
  if (needsAttention(server)) {
    return { ...node, note: word, icon, tone: tone === "bad" ? "bad" : "warn" };
  }
  if (times && isFailing(times)) {
    const note = `${formatNumber(times.errors)} of ${formatNumber(calls)} failed`;
    return { ...node, note, icon: "error", tone: "bad" };
  }
  if (times && isSlow(times)) {
    return { ...node, note: `slow: ${formatLatency(times.p95)}`, icon: "alert", tone: "warn" };
  }
  if (server.state !== "ready") {
    return { ...node, note: word, icon, tone: isStarting(server.state) ? "ok" : "quiet" };
  }
  return { ...node, note: calls === 0 ? "idle" : formatCount(calls, "call"), icon, tone: "ok" };
}

function grouped(nodes: readonly MapNode[], one: string, href: string, many?: string): MapNode[] {
  if (nodes.length === 0) return [];
  const calls = nodes.reduce((sum, node) => sum + node.calls, 0);
  return [{
    label: formatCount(nodes.length, one, many),
    href,
    note: calls === 0 ? "" : formatCount(calls, "call"),
    tone: "quiet",
    icon: "more",
    members: nodes.flatMap(({ members }) => members),
    calls,
  }];
}

export interface MapBox {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface MapShape {
  width: number;
  /** Of the column of clients, the gateway and the column of servers. */
  columns: [number, number, number];
  rowHeight: number;
  nodeHeight: number;
}

export const SHAPES = {
  wide: { width: 900, columns: [230, 132, 330], rowHeight: 36, nodeHeight: 30 },
  narrow: { width: 320, columns: [112, 24, 144], rowHeight: 52, nodeHeight: 46 },
} satisfies Record<string, MapShape>;

/** Three columns, each in the middle of the height. */
export function layOut(
  { width, columns: [left, middle, right], rowHeight, nodeHeight }: MapShape,
  clients: number,
  servers: number,
) {
  const height = Math.max(clients, servers, 2) * rowHeight;
  const column = (count: number, x: number, width: number): MapBox[] => {
    const top = (height - count * rowHeight) / 2 + (rowHeight - nodeHeight) / 2;
    return Array.from({ length: count }, (_, index) => ({
      x,
      y: top + index * rowHeight,
      width,
      height: nodeHeight,
    }));
  };
  const gap = (width - left - middle - right) / 2;
  const gatewayHeight = Math.min(height, 2 * rowHeight) - (rowHeight - nodeHeight);
  const gateway: MapBox = {
    x: left + gap,
    y: (height - gatewayHeight) / 2,
    width: middle,
    height: gatewayHeight,
  };
  return {
    width,
    height,
    clients: column(clients, 1, left - 1),
    gateway,
    servers: column(servers, width - right, right - 1),
  };
}

/** A line from the right side of one box to the left side of another. */
export function curve(from: MapBox, to: MapBox): string {
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x, to.y + to.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
