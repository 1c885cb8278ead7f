import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { formatCount, formatNumber, inertString } from "../../../../lib/console/ui/format.ts";
import { MANY_TOOLS } from "../../../../lib/core/client.ts";
import { MAX_TOOLS, type PickedTool, sizeOf } from "../../../../lib/console/ui/tools.ts";
import { Icon } from "../../../../components/icon.tsx";
import { InertText } from "../../../../components/text.tsx";
import { allowDrop, draggedTool, movedPlace, startDrag } from "../(_page)/browser.ts";
import { rowWindow } from "../../../../lib/console/ui/rows.ts";

interface ChosenListProps {
  tools: readonly PickedTool[];
  /** How many of the gateway's own tools are listed beside them at /mcp. */
  builtins: number;
  onRemove(name: string): void;
  onClear(): void;
  /** Puts a tool before the one at this place; it may come from outside. */
  onPlace(name: string, at: number): void;
}

const ROW_HEIGHT = 36;
/** Until the height of the list is known. */
const FIRST_ROWS = 60;

/** The chosen tools in the order in which clients list them; only visible rows are drawn. */
export function ChosenList({ tools, builtins, onRemove, onClear, onPlace }: ChosenListProps) {
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
    const below = box.clientHeight - ROW_HEIGHT;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top > box.scrollTop + below) box.scrollTop = top - below;
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
      <ChosenSize tools={tools} builtins={builtins} onClear={onClear} />
      {tools.length === 0 && (
        <p class={target.value === undefined ? "picker-empty" : "picker-empty is-target"}>
          Select tools to add them, or drag them here.
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
            isLast={first + index === MANY_TOOLS - builtins - 1 && first + index < tools.length - 1}
            target={target.value}
            onKey={onKey}
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
          <p class="muted small">{tools.length - end} more are in this toolset and stay.</p>
        </noscript>
      )}
      {tools.length > 0 && (
        <p id="chosen-hint" class="hint needs-js">
          Clients list them in this order. Drag a row to move it, or use the arrow keys on its
          handle.
        </p>
      )}
    </section>
  );
}

/** Rows that are not drawn are sent too. */
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

/** The focusable parts of a row: its box, and the handle that moves it. */
type RowPart = "box" | "grip";

interface ChosenRowProps {
  tool: PickedTool;
  place: number;
  count: number;
  /** The last that every client takes, with more after it. */
  isLast: boolean;
  /** The place where a dragged tool would come to stand. */
  target: number | undefined;
  onKey(event: KeyboardEvent, place: number, part: RowPart): void;
  onRemove(): void;
}

/** One chosen tool: taken out by its box, moved by its handle. */
function ChosenRow({ tool, place, count, isLast, target, onKey, onRemove }: ChosenRowProps) {
  const classes = [
    "chosen-row",
    target === place && "is-target",
    target === count && place === count - 1 && "is-target-end",
    isLast && "is-line",
  ];
  const name = inertString(tool.namespacedName);
  return (
    <li
      class={classes.filter(Boolean).join(" ")}
      data-tool={tool.namespacedName}
      draggable
      onDragStart={(event) => startDrag(event, tool.namespacedName)}
      aria-setsize={count}
      aria-posinset={place + 1}
    >
      <button
        type="button"
        class="grip needs-js"
        data-part="grip"
        aria-label={`Move ${name}, ${place + 1} of ${count}`}
        aria-keyshortcuts="ArrowUp ArrowDown Home End"
        title="Drag, or press the arrow keys"
        onKeyDown={(event) => onKey(event, place, "grip")}
      >
        <Icon name="more" size={14} />
      </button>
      <label class="pick">
        <input
          type="checkbox"
          name="tool"
          data-part="box"
          value={tool.namespacedName}
          checked
          onChange={onRemove}
          onKeyDown={(event) => onKey(event, place, "box")}
        />
        <span class="mono cut" title={name}>
          <InertText text={tool.namespacedName} />
        </span>
        {tool.note !== undefined && <span class="small tone-warn note">{tool.note}</span>}
        <span class="number small muted" title="Tokens">
          {tool.tokens === undefined ? "" : formatNumber(tool.tokens)}
        </span>
      </label>
    </li>
  );
}

function ChosenSize(
  { tools, builtins, onClear }: Pick<ChosenListProps, "tools" | "builtins" | "onClear">,
) {
  const { count, listed, tokens, isCounted, isLarge, isTooLarge } = sizeOf(tools, builtins);
  return (
    <>
      <div class="chosen-size">
        <p class="picker-size" role="status">
          {formatCount(count, "tool")}
          {count > 0 && `, about ${formatCount(tokens, "token")}`}
          {!isCounted && " so far, counting"}
        </p>
        {count > 0 && (
          <button type="button" class="link-button small needs-js" onClick={onClear}>
            Remove all
          </button>
        )}
      </div>
      <Gauge count={listed} builtins={builtins} />
      {isLarge && (
        <p class={isTooLarge ? "notice tone-bad" : "notice tone-warn"}>
          <Icon name={isTooLarge ? "error" : "alert"} size={14} />
          <span>
            {isTooLarge
              ? `A toolset holds at most ${formatNumber(MAX_TOOLS)} tools. Remove some.`
              : `More than ${MANY_TOOLS}: some clients, such as Cursor, ignore the rest.`}
          </span>
        </p>
      )}
    </>
  );
}

const WIDTH = 200;

/** What /mcp lists as a bar, with the line at 40. */
function Gauge({ count, builtins }: { count: number; builtins: number }) {
  const whole = Math.max(MANY_TOOLS * 1.25, count);
  const at = (value: number) => Math.round(value / whole * WIDTH);
  return (
    <div class="gauge">
      <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" height="10" aria-hidden="true">
        <rect class="bar-track" y="2" width={WIDTH} height="6" />
        <rect class="bar-fill" y="2" width={at(Math.min(count, MANY_TOOLS))} height="6" />
        {count > MANY_TOOLS && (
          <rect
            class="gauge-over"
            x={at(MANY_TOOLS)}
            y="2"
            width={WIDTH - at(MANY_TOOLS)}
            height="6"
          />
        )}
        <rect class="gauge-line" x={at(MANY_TOOLS) - 1} width="2" height="10" />
      </svg>
      <p class="small muted">
        {builtins > 0 &&
          `${builtins} of the gateway's own + ${formatNumber(count - builtins)} chosen = `}
        {`${formatCount(count, "tool")}. Cursor reads ${MANY_TOOLS}.`}
      </p>
    </div>
  );
}
