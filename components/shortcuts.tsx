import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Icon } from "./icon.tsx";
import { Key } from "./text.tsx";
import { readPreference, savePreference } from "../lib/console/ui/preferences.ts";
import {
  GoKeys,
  isPaletteChord,
  isShortcut,
  modifierName,
  overlay,
} from "../lib/console/ui/keys.ts";
import { PAGES } from "../lib/console/ui/pages.ts";
import { COMMON_ACTIONS, doItem, navigate } from "../lib/console/ui/palette.ts";
import { moveRowFocus } from "../lib/console/ui/rows.ts";

export function Shortcuts() {
  // Speech input types letters into the page: single keys can be switched off.
  const isOn = useSignal(true);
  useEffect(() => {
    isOn.value = readPreference("keys") !== "off";
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      if (isPaletteChord(event)) {
        event.preventDefault();
        overlay.value = overlay.value === "palette" ? undefined : "palette";
      } else if (overlay.value === undefined && isShortcut(event) && isOn.value) {
        if (press(event.key)) event.preventDefault();
      }
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);

  return (
    <Sheet
      title="Keyboard shortcuts"
      isOpen={overlay.value === "help"}
      onClose={() => {
        if (overlay.value === "help") overlay.value = undefined;
      }}
    >
      <div class="keys">
        <Keys title="Everywhere">
          <KeyRow keys={[modifierName(), "K"]} meaning="Search everything" />
          <KeyRow keys={["?"]} meaning="Show keyboard shortcuts" />
          <KeyRow keys={["Esc"]} meaning="Close the open dialog" />
        </Keys>
        <Keys title="Lists">
          <KeyRow keys={["/"]} meaning="Filter the list" />
          <KeyRow keys={["j"]} meaning="Next row" />
          <KeyRow keys={["k"]} meaning="Previous row" />
          <KeyRow keys={["Enter"]} meaning="Open the row" />
        </Keys>
        <Keys title="Actions">
          {KEY_ACTIONS.map(({ id, key, label }) => (
            <KeyRow key={id} keys={["Shift", key]} meaning={label} />
          ))}
        </Keys>
        <Keys title="Go to">
          {PAGES.map((page) => (
            <KeyRow key={page.path} keys={["g", page.go]} or={page.key} meaning={page.label} />
          ))}
        </Keys>
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={isOn.value}
          onChange={(event) => {
            isOn.value = event.currentTarget.checked;
            savePreference("keys", isOn.value ? undefined : "off");
          }}
        />
        Single-key shortcuts
      </label>
    </Sheet>
  );
}

/** Those with a capital letter: a browser keeps Command and Control with them for itself. */
const KEY_ACTIONS = COMMON_ACTIONS.flatMap((item) =>
  item.key !== undefined && /^[A-Z]$/.test(item.key) ? { ...item, key: item.key } : []
);

const GO_KEYS = new GoKeys(PAGES);

/** Does what a key stands for; false if it stands for nothing. */
function press(key: string): boolean {
  const place = GO_KEYS.press(key, performance.now());
  if (place === "waiting") return true;
  if (place !== undefined) navigate(place.path);
  else if (key === "?") overlay.value = "help";
  else if (key === "j") moveRowFocus(1);
  else if (key === "k") moveRowFocus(-1);
  else if (key === "/") focusFilter();
  else {
    const page = PAGES.find((page) => page.key === key);
    const item = KEY_ACTIONS.find((item) => item.key === key);
    if (page !== undefined) navigate(page.path);
    else if (item !== undefined) doItem(item);
    else return false;
  }
  return true;
}

function focusFilter(): void {
  const field = document.querySelector<HTMLInputElement>("[data-filter]");
  if (field === null) overlay.value = "palette";
  else field.select();
}

function Keys({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>{children}</dl>
    </section>
  );
}

/** Keys to press together or one after the other, or another one in their place. */
function KeyRow({ keys, or, meaning }: { keys: string[]; or?: string; meaning: string }) {
  return (
    <div class="key-row">
      <dt>
        {keys.map((name) => <Key key={name} name={name} />)}
        {or !== undefined && (
          <>
            <span class="muted">or</span> <Key name={or} />
          </>
        )}
      </dt>
      <dd>{meaning}</dd>
    </div>
  );
}

interface SheetProps {
  title: string;
  isOpen: boolean;
  onClose(): void;
  children: ComponentChildren;
}

/** A dialog over the page, for islands: the browser traps the focus and gives it back. */
function Sheet({ title, isOpen, onClose, children }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (isOpen && dialog.current?.open === false) dialog.current.showModal();
    else if (!isOpen) dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      class="sheet"
      aria-label={title}
      // Escape is told at once by the one, any other end later by the other.
      onCancel={onClose}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      {isOpen && (
        <div class="sheet-body" tabIndex={-1} autofocus>
          <header class="sheet-head">
            <h2>{title}</h2>
            <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          </header>
          {children}
        </div>
      )}
    </dialog>
  );
}
