import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { IS_BROWSER } from "fresh/runtime";
import {
  type LoadedIndex,
  loadedIndex,
  loadIndex,
  type PaletteGroup,
  type PaletteItem,
  paletteItems,
  recentItems,
  runItem,
  searchPalette,
} from "../lib/console/ui/palette.ts";
import { inertString } from "../lib/console/ui/format.ts";
import { Icon, isIconName } from "./icon.tsx";
import { InertText, Key } from "./text.tsx";
import { Skeleton } from "./states.tsx";
import { modifierName, overlay } from "../lib/console/ui/keys.ts";

export function CommandPalette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const query = useSignal("");
  const active = useSignal(0);
  const isOpen = overlay.value === "palette";

  // Before the next key arrives: letters typed right after the shortcut belong in the field.
  useLayoutEffect(() => {
    if (!isOpen) return dialog.current?.close();
    query.value = "";
    active.value = 0;
    dialog.current?.showModal();
    loadIndex();
  }, [isOpen]);

  const index = loadedIndex.value;
  const items = useMemo(() => paletteItems(index.data), [index.data]);
  const groups = isOpen ? searchPalette(items, query.value, recentItems.value) : [];
  const shown = groups.flatMap((group) => group.items.map(({ item }) => item));
  const at = Math.min(active.value, Math.max(0, shown.length - 1));
  const move = (to: number) => active.value = (to + shown.length) % Math.max(1, shown.length);
  const close = () => {
    if (overlay.value === "palette") overlay.value = undefined;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const chosen = shown[at];
    if (event.key === "ArrowDown") move(at + 1);
    else if (event.key === "ArrowUp") move(at - 1);
    else if (event.key === "Enter" && chosen !== undefined) runItem(chosen);
    else return;
    event.preventDefault();
  };

  return (
    <div class="search">
      <Trigger />
      <dialog
        ref={dialog}
        class="palette"
        aria-label="Search pages, servers, tools and actions"
        // Escape is told at once by the one, any other end later by the other.
        onCancel={close}
        onClose={close}
        onClick={(event) => {
          if (event.target === event.currentTarget) close();
        }}
      >
        {isOpen && (
          <div class="palette-body">
            <div class="palette-field">
              <Icon name="search" />
              <input
                type="text"
                class="palette-input"
                role="combobox"
                aria-label="Search"
                aria-expanded="true"
                aria-controls="palette-list"
                aria-autocomplete="list"
                aria-activedescendant={shown.length > 0 ? paletteOptionId(at) : undefined}
                placeholder="Search pages, servers, tools and actions"
                autocomplete="off"
                spellcheck={false}
                maxLength={100}
                autoFocus
                value={query.value}
                onKeyDown={onKeyDown}
                onInput={(event) => {
                  query.value = event.currentTarget.value;
                  active.value = 0;
                }}
              />
              <Key name="Esc" />
            </div>
            <PaletteList
              groups={groups}
              active={at}
              query={query.value}
              index={index}
              onHover={(place) => active.value = place}
              onChoose={runItem}
              onRetry={loadIndex}
            />
            <footer class="palette-foot" aria-hidden="true">
              <span>
                <Key name="↑" />
                <Key name="↓" /> move
              </span>
              <span>
                <Key name="↵" /> open
              </span>
            </footer>
          </div>
        )}
      </dialog>
    </div>
  );
}

/** A field to look at, a button to press; without JavaScript, the way to the tools' own search. */
function Trigger() {
  const content = (
    <>
      <Icon name="search" size={14} />
      <span class="search-word">Search…</span>
      <span class="search-keys needs-js" aria-hidden="true">
        <Key name={modifierName()} />
        <Key name="K" />
      </span>
    </>
  );
  if (!IS_BROWSER) {
    return <a class="search-field" href="/tools" aria-current="false">{content}</a>;
  }
  return (
    <button
      type="button"
      class="search-field"
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={() => overlay.value = "palette"}
    >
      {content}
    </button>
  );
}

interface PaletteListProps {
  groups: PaletteGroup[];
  active: number;
  query: string;
  index: LoadedIndex;
  onHover(place: number): void;
  onChoose(item: PaletteItem): void;
  onRetry(): void;
}

function paletteOptionId(place: number): string {
  return `palette-option-${place}`;
}

function PaletteList(props: PaletteListProps) {
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
          Nothing matches “{query}”. Try fewer letters, or part of the name.
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
      {item.aside && <InertText as="span" class="palette-aside mono" text={item.aside} />}
    </div>
  );
}

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
