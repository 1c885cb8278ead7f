import { useEffect, useRef } from "preact/hooks";
import type { PaletteGroup, PaletteItem } from "../lib/console/ui/palette_items.ts";
import type { LoadedIndex } from "../lib/console/ui/palette_state.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { Icon, isIconName } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { Key } from "./key.tsx";
import { Skeleton } from "./skeleton.tsx";

interface PaletteListProps {
  groups: PaletteGroup[];
  active: number;
  query: string;
  index: LoadedIndex;
  onHover(place: number): void;
  onChoose(item: PaletteItem): void;
  onRetry(): void;
}

export function paletteOptionId(place: number): string {
  return `palette-option-${place}`;
}

/** What the palette found, in groups; for its island only. */
export function PaletteList(props: PaletteListProps) {
  const { groups, active, query, index } = props;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector(`#${paletteOptionId(active)}`)
      ?.scrollIntoView({ block: "nearest" });
  }, [active, query]);
  let place = 0;
  return (
    <div class="palette-results">
      <div id="palette-list" class="palette-list" role="listbox" aria-label="Results" ref={list}>
        {groups.map((group) => (
          <div key={group.title} role="group" aria-label={group.title}>
            <div class="palette-group" aria-hidden="true">{group.title}</div>
            {group.items.map(({ item, positions }) => (
              <Option
                key={item.id}
                item={item}
                positions={positions}
                place={place++}
                active={active}
                onHover={props.onHover}
                onChoose={props.onChoose}
              />
            ))}
          </div>
        ))}
      </div>
      {groups.length === 0 && index.state !== "loading" && (
        <p class="palette-note" role="status">
          Nothing matches “{query}”. Try fewer letters, or a part of the name.
        </p>
      )}
      {index.state === "loading" && <Skeleton label="Loading servers and tools" rows={2} />}
      {index.state === "failed" && (
        <p class="palette-note" role="status">
          Servers and tools could not be loaded.{" "}
          <button type="button" class="link-button" onClick={props.onRetry}>Try again</button>
        </p>
      )}
    </div>
  );
}

interface OptionProps extends Pick<PaletteListProps, "active" | "onHover" | "onChoose"> {
  item: PaletteItem;
  positions: number[];
  place: number;
}

function Option({ item, positions, place, active, onHover, onChoose }: OptionProps) {
  return (
    <div
      id={paletteOptionId(place)}
      class="palette-option"
      role="option"
      aria-selected={place === active}
      onMouseMove={() => onHover(place)}
      onClick={() => onChoose(item)}
    >
      {isIconName(item.icon) && <Icon name={item.icon} />}
      <span
        class={item.isName ? "palette-label mono" : "palette-label"}
        title={inertString(item.label)}
      >
        {pieces(item.label, positions).map(({ text, isHit }, index) =>
          isHit
            ? (
              <mark key={index}>
                <InertText text={text} />
              </mark>
            )
            : <InertText key={index} text={text} />
        )}
      </span>
      {item.key !== undefined && /^[A-Z]$/.test(item.key) && <Key name="Shift" />}
      {item.key === undefined ? null : <Key name={item.key} />}
      {item.aside === undefined ? null : (
        <span class="palette-aside mono">
          <InertText text={item.aside} />
        </span>
      )}
    </div>
  );
}

/** Cuts a label into runs of matched and other characters. */
function pieces(label: string, positions: number[]): { text: string; isHit: boolean }[] {
  const hits = new Set(positions);
  const result: { text: string; isHit: boolean }[] = [];
  for (let index = 0; index < label.length; index++) {
    const isHit = hits.has(index);
    const last = result.at(-1);
    if (last?.isHit === isHit) last.text += label[index];
    else result.push({ text: label[index] ?? "", isHit });
  }
  return result;
}
