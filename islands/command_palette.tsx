import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { IS_BROWSER } from "fresh/runtime";
import { Icon } from "../components/icon.tsx";
import { Key } from "../components/key.tsx";
import { PaletteList, paletteOptionId } from "../components/palette_list.tsx";
import { modifierName } from "../lib/console/ui/modifier.ts";
import { overlay } from "../lib/console/ui/overlay.ts";
import { paletteItems, searchPalette } from "../lib/console/ui/palette_items.ts";
import { loadIndex, paletteIndex, recentItems, runItem } from "../lib/console/ui/palette_state.ts";

/** Finds pages, servers, tools and actions by a few letters. */
export default function CommandPalette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const query = useSignal("");
  const active = useSignal(0);
  const isOpen = overlay.value === "palette";

  useEffect(() => {
    if (!isOpen) return dialog.current?.close();
    query.value = "";
    active.value = 0;
    dialog.current?.showModal();
    loadIndex();
  }, [isOpen]);

  const index = paletteIndex.value;
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
