import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { allowDrop, draggedTool, startDrag } from "../lib/console/ui/pick_focus.ts";
import { rowWindow } from "../lib/console/ui/row_window.ts";
import { movedPlace } from "../lib/console/ui/tool_picks.ts";
import { MANY_TOOLS, type PickedTool } from "../lib/console/ui/toolset_size.ts";
import { ChosenRow, type RowPart } from "./chosen_row.tsx";
import { ChosenSize } from "./chosen_size.tsx";

interface ChosenToolsProps {
  tools: readonly PickedTool[];
  onRemove(name: string): void;
  onClear(): void;
  /** Puts a tool before the one at this place; it may come from outside. */
  onPlace(name: string, at: number): void;
}

const ROW_HEIGHT = 36;
/** As long as nobody knows how much is seen. */
const FIRST_ROWS = 60;

/** What is chosen so far, in the order in which clients list it; of many only what is seen is drawn. */
export function ChosenTools({ tools, onRemove, onClear, onPlace }: ChosenToolsProps) {
  const list = useRef<HTMLUListElement>(null);
  const seen = useSignal({ top: 0, height: 0 });
  /** Where a dragged tool would come to stand. */
  const target = useSignal<number | undefined>(undefined);
  const wanted = useRef<{ name: string; part: RowPart }>();

  const look = () => {
    if (list.current === null) return;
    seen.value = { top: list.current.scrollTop, height: list.current.clientHeight };
  };
  useEffect(look, [tools.length]);
  // A row that was not drawn, or moved, gets the focus once it is in its place.
  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    const { name, part } = wanted.current;
    const row = list.current?.querySelector(`[data-tool="${CSS.escape(name)}"]`);
    if (!row) return;
    wanted.current = undefined;
    row.querySelector<HTMLElement>(`[data-part="${part}"]`)?.focus({ preventScroll: true });
  });

  /** Brings a place into view, and has its row focused. */
  const reveal = (name: string, at: number, part: RowPart) => {
    const box = list.current;
    if (box === null) return;
    const top = at * ROW_HEIGHT;
    const room = box.clientHeight - ROW_HEIGHT;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top > box.scrollTop + room) box.scrollTop = top - room;
    wanted.current = { name, part };
    look();
  };
  const onKey = (event: KeyboardEvent, at: number, part: RowPart) => {
    const tool = tools[at];
    const to = movedPlace(event.key, at, tools.length);
    if (event.key === "Enter" || to !== undefined) event.preventDefault();
    if (tool === undefined || to === undefined || to === at) return;
    if (part === "grip") {
      onPlace(tool.namespacedName, to > at ? to + 1 : to);
      reveal(tool.namespacedName, to, part);
    } else reveal(tools[to]?.namespacedName ?? "", to, part);
  };
  const placeAt = (event: DragEvent): number => {
    const box = list.current;
    if (box === null) return tools.length;
    const y = event.clientY - box.getBoundingClientRect().top + box.scrollTop;
    return Math.min(tools.length, Math.max(0, Math.round(y / ROW_HEIGHT)));
  };

  const { top, height } = seen.value;
  const { first, end } = height === 0
    ? { first: 0, end: Math.min(tools.length, FIRST_ROWS) }
    : rowWindow({ top, height, rowHeight: ROW_HEIGHT, count: tools.length });
  return (
    <section
      class="picker-side"
      aria-labelledby="picker-chosen"
      onDragOver={(event) => {
        if (allowDrop(event)) target.value = placeAt(event);
      }}
      onDragLeave={() => target.value = undefined}
      onDrop={(event) => {
        const name = draggedTool(event);
        target.value = undefined;
        if (name === undefined) return;
        event.preventDefault();
        onPlace(name, placeAt(event));
      }}
    >
      <h2 id="picker-chosen">In this toolset</h2>
      <ChosenSize tools={tools} onClear={onClear} />
      {tools.length === 0 && (
        <p class={target.value === undefined ? "picker-empty" : "picker-empty is-target"}>
          Tick tools to put them in, or drag them here.
        </p>
      )}
      <Undrawn tools={tools.slice(0, first)} />
      <ul class="chosen" ref={list} onScroll={look} aria-describedby="chosen-hint">
        <Spacer rows={first} />
        {tools.slice(first, end).map((tool, index) => (
          <ChosenRow
            key={tool.namespacedName}
            tool={tool}
            place={first + index}
            count={tools.length}
            isTarget={target.value === first + index}
            isLast={target.value === tools.length && first + index === tools.length - 1}
            isLine={first + index === MANY_TOOLS - 1 && tools.length > MANY_TOOLS}
            onKey={onKey}
            onDrag={(event) => startDrag(event, tool.namespacedName)}
            onRemove={() => {
              const at = first + index;
              const next = tools[at + 1] ?? tools[at - 1];
              onRemove(tool.namespacedName);
              // The row goes, and must not take the focus with it.
              if (next) wanted.current = { name: next.namespacedName, part: "box" };
            }}
          />
        ))}
        <Spacer rows={height === 0 ? 0 : tools.length - end} />
      </ul>
      <Undrawn tools={tools.slice(end)} />
      {height === 0 && end < tools.length && (
        <noscript>
          <p class="muted small">{tools.length - end} more are in it and stay.</p>
        </noscript>
      )}
      {tools.length > 0 && (
        <p id="chosen-hint" class="hint needs-js">
          Clients list them in this order. Drag a row, or move it with the arrow keys on its handle.
        </p>
      )}
    </section>
  );
}

/** What is chosen and not drawn is sent all the same. */
function Undrawn({ tools }: { tools: readonly PickedTool[] }) {
  if (tools.length === 0) return null;
  const names = tools.map(({ namespacedName }) => namespacedName);
  return <input type="hidden" name="tools" value={JSON.stringify(names)} />;
}

/** Keeps the place of rows that are not drawn. */
function Spacer({ rows }: { rows: number }) {
  if (rows <= 0) return null;
  return <li aria-hidden="true" style={{ height: `${rows * ROW_HEIGHT}px` }} />;
}
