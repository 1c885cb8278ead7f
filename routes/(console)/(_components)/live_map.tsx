import { Icon, type IconName, Mark } from "../../../components/icon.tsx";
import { inertString } from "../../../lib/console/ui/format.ts";

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

/** A call on its way: from which client, to which server if it went to one. */
export interface Pulse {
  id: number;
  client: number;
  server: number;
  ok: boolean;
}

interface MapDrawingProps extends LiveMapData {
  shape: keyof typeof SHAPES;
  label: string;
  pulses: readonly Pulse[];
}

/** Of the monospace font at 12 px. */
const LETTER = 7.3;

/** Clients on the left, servers on the right, with what is wrong in color, icon and words. */
export function MapDrawing({ shape, label, clients, servers, pulses }: MapDrawingProps) {
  const isWide = shape === "wide";
  const { width, height, gateway, ...boxes } = layOut(
    SHAPES[shape],
    clients.length,
    servers.length,
  );
  const most = Math.max(1, ...servers.map(({ calls }) => calls));
  const edge = (node: MapNode, from: MapBox, to: MapBox) => (
    <path
      key={node.href + node.label}
      class={`map-edge tone-${node.tone}`}
      d={curve(from, to)}
      stroke-width={1 + 2 * Math.min(1, node.calls / most)}
    />
  );
  return (
    <svg
      class={`map map-${shape}`}
      viewBox={`0 0 ${width} ${height}`}
      role="group"
      aria-label={label}
    >
      {clients.map((node, index) => edge(node, boxes.clients[index]!, gateway))}
      {servers.map((node, index) => edge(node, gateway, boxes.servers[index]!))}
      {pulses.map(({ id, client, server, ok }) => {
        const from = boxes.clients[client];
        const to = boxes.servers[server];
        const path = [from && curve(from, gateway), to && curve(gateway, to)].filter(Boolean);
        return path.map((d, part) => (
          <path
            key={`${id} ${part}`}
            class={ok ? "map-pulse" : "map-pulse is-bad"}
            data-part={from === undefined ? 0 : part}
            d={d}
            pathLength={1}
          />
        ));
      })}
      <g transform={`translate(${gateway.x} ${gateway.y})`}>
        <rect class="map-gateway" width={gateway.width} height={gateway.height} rx="8" />
        {isWide && (
          <text class="map-title" x={gateway.width / 2} y={gateway.height / 2 + 24}>
            Quartermaster
          </text>
        )}
        <g
          transform={`translate(${gateway.width / 2 - 10} ${
            gateway.height / 2 - (isWide ? 16 : 10)
          })`}
        >
          <Mark />
        </g>
      </g>
      {clients.map((node, index) => (
        <Node
          node={node}
          box={boxes.clients[index]!}
          isWide={isWide}
        />
      ))}
      {servers.map((node, index) => (
        <Node
          node={node}
          box={boxes.servers[index]!}
          isWide={isWide}
        />
      ))}
    </svg>
  );
}

function Node({ node, box, isWide }: { node: MapNode; box: MapBox; isWide: boolean }) {
  const { label, note, tone, icon, href } = node;
  const name = inertString(label);
  const title = note === "" ? name : `${name}: ${note}`;
  const noteWidth = isWide && note !== "" ? note.length * 6.6 + 12 : 0;
  const letters = Math.floor((box.width - 31 - noteWidth) / LETTER);
  const shown = name.length > letters ? `${name.slice(0, Math.max(1, letters - 1))}…` : name;
  const middle = box.height / 2 + 4;
  const inside = (
    <g class={`map-node tone-${tone}`} transform={`translate(${box.x} ${box.y})`}>
      <title>{title}</title>
      <rect class="map-box" width={box.width} height={box.height} rx="6" />
      <g transform={`translate(9 ${isWide ? box.height / 2 - 7 : 8})`}>
        <Icon name={icon} size={14} />
      </g>
      <text class="map-name" x="29" y={isWide ? middle : 19}>{shown}</text>
      <text
        class="map-note"
        x={isWide ? box.width - 9 : 29}
        y={isWide ? middle : 36}
        text-anchor={isWide ? "end" : "start"}
      >
        {note}
      </text>
    </g>
  );
  return href === "" ? inside : <a href={href}>{inside}</a>;
}

interface MapBox {
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
function curve(from: MapBox, to: MapBox): string {
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x, to.y + to.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
