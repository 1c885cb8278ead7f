import { formatNumber } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import type { PickedTool } from "../lib/console/ui/toolset_size.ts";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";

/** What of a row can have the focus: its box, or the handle that moves it. */
export type RowPart = "box" | "grip";

interface ChosenRowProps {
  tool: PickedTool;
  /** From 0. */
  place: number;
  count: number;
  /** A dragged tool would come to stand before it. */
  isTarget: boolean;
  /** Or after it, as the last one. */
  isLast: boolean;
  /** The last that every client takes. */
  isLine: boolean;
  onKey(event: KeyboardEvent, place: number, part: RowPart): void;
  onDrag(event: DragEvent): void;
  onRemove(): void;
}

/** One chosen tool: taken out by its box, moved by its handle. */
export function ChosenRow(props: ChosenRowProps) {
  const { tool, place, count, isTarget, isLast, isLine, onKey } = props;
  const classes = [
    "chosen-row",
    ...(isTarget ? ["is-target"] : []),
    ...(isLast ? ["is-target-end"] : []),
    ...(isLine ? ["is-line"] : []),
  ];
  const name = inertString(tool.namespacedName);
  return (
    <li
      class={classes.join(" ")}
      data-tool={tool.namespacedName}
      draggable
      onDragStart={props.onDrag}
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
          onChange={props.onRemove}
          onKeyDown={(event) => onKey(event, place, "box")}
        />
        <span class="mono cut" title={name}>
          <InertText text={tool.namespacedName} />
        </span>
        {tool.note === undefined ? null : <span class="small tone-warn note">{tool.note}</span>}
        <span class="number small muted">
          {tool.tokens === undefined ? "" : formatNumber(tool.tokens)}
        </span>
      </label>
    </li>
  );
}
