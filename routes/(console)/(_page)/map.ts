import { stateLook } from "../../../components/server_state.tsx";
import { isFailing, isSlow } from "../../../lib/console/attention.ts";
import { needsAttention } from "../../../lib/console/frame.ts";
import { compareText } from "../../../lib/console/lists.ts";
import { formatCount, formatLatency, formatNumber } from "../../../lib/console/ui/format.ts";
import { clientPath, serverPath } from "../../../lib/console/ui/pages.ts";
import { isStarting, type ServerStatus } from "../../../lib/core/server.ts";
import { isIdle } from "../../../lib/core/client.ts";
import type { ConnectedClient } from "../../../lib/mcp/clients.ts";
import type { ServerTimes } from "../../../lib/telemetry/call_stats.ts";
import type { LiveMapData, MapNode } from "../(_components)/live_map.tsx";

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
    clients: mayManage ? clientNodes(connected) : grouped(clientNodes(connected), "client", ""),
    servers: serverNodes(servers, new Map(times.map((each) => [each.server, each]))),
  };
}

/** The sessions of clients with the same name are one node. */
function clientNodes(connected: readonly ConnectedClient[]): MapNode[] {
  const [idle, active] = [true, false].map((idle) =>
    connected.filter((client) => isIdle(client) === idle)
  ) as [ConnectedClient[], ConnectedClient[]];
  const nodes = [...Map.groupBy(active, ({ name }) => name)].map(([name, sessions]): MapNode => {
    const total = (key: "calls" | "errors" | "searches") =>
      sessions.reduce((sum, each) => sum + each[key], 0);
    const [calls, errors, searches] = [total("calls"), total("errors"), total("searches")];
    const isOne = sessions.length === 1;
    return {
      label: isOne ? name : `${name} (${sessions.length})`,
      href: isOne ? clientPath(sessions[0]!.id) : "/clients",
      note: errors > 0
        ? failedNote(errors, calls)
        : calls === 0 && searches > 0
        ? formatCount(searches, "search", "searches")
        : formatCount(calls, "call"),
      tone: errors > 0 ? "warn" : "quiet",
      icon: errors > 0 ? "alert" : "monitor",
      members: sessions.map(({ id }) => id),
      calls,
    };
  }).sort((a, b) => b.calls - a.calls || compareText(a.label, b.label));
  const idleNodes = idle.map(({ id, calls }) => ({ members: [id], calls }));
  const most = MOST_CLIENTS - (idle.length > 0 ? 1 : 0);
  const shown = nodes.length <= most ? nodes : nodes.slice(0, most - 1);
  return [
    ...shown,
    ...grouped(nodes.slice(shown.length), "more client", "/clients"),
    ...grouped(idleNodes, "idle client", "/clients"),
  ];
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
    return { ...node, note: failedNote(times.errors, calls), icon: "error", tone: "bad" };
  }
  if (times && calls > 0 && times.errors === calls) {
    return { ...node, note: failedNote(times.errors, calls), icon: "alert", tone: "warn" };
  }
  if (times && isSlow(times)) {
    return { ...node, note: `slow: ${formatLatency(times.p95)}`, icon: "alert", tone: "warn" };
  }
  if (server.state !== "ready") {
    return { ...node, note: word, icon, tone: isStarting(server.state) ? "ok" : "quiet" };
  }
  const note = times?.errors ? failedNote(times.errors, calls) : formatCount(calls, "call");
  return { ...node, note: calls === 0 ? "idle" : note, icon, tone: "ok" };
}

function failedNote(errors: number, calls: number): string {
  return `${formatNumber(errors)} of ${formatNumber(calls)} failed`;
}

function grouped(
  nodes: readonly Pick<MapNode, "members" | "calls">[],
  one: string,
  href: string,
  many?: string,
): MapNode[] {
  if (nodes.length === 0) return [];
  const calls = nodes.reduce((sum, node) => sum + node.calls, 0);
  const members = nodes.flatMap((node) => node.members);
  return [{
    label: formatCount(members.length, one, many),
    href,
    note: calls === 0 ? "" : formatCount(calls, "call"),
    tone: "quiet",
    icon: "more",
    members,
    calls,
  }];
}
