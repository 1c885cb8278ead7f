import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface SheetProps {
  title: string;
  isOpen: boolean;
  onClose(): void;
  children: ComponentChildren;
}

/** A dialog over the page, for islands: the browser traps the focus and gives it back. */
export function Sheet({ title, isOpen, onClose, children }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
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
