import { Icon, Mark } from "../../../components/icon.tsx";
import { inertString } from "../../../lib/console/ui/format.ts";
import {
  curve,
  layOut,
  type LiveMapData,
  type MapBox,
  type MapNode,
  SHAPES,
} from "../(_page)/map.ts";

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
  const noteWidth = isWide && note !== "" ? note.length * 6.6 + 12 : 0;
  const letters = Math.floor((box.width - 34 - noteWidth) / LETTER);
  const shown = name.length > letters ? `${name.slice(0, Math.max(1, letters - 1))}…` : name;
  const middle = box.height / 2 + 4;
  const inside = (
    <g class={`map-node tone-${tone}`} transform={`translate(${box.x} ${box.y})`}>
      <title>{note === "" ? name : `${name}: ${note}`}</title>
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
