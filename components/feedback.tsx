import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";
import { revealCurrentRow } from "../lib/console/ui/rows.ts";
import { dismissToast, type Toast, toast, toasts } from "../lib/console/ui/toast.ts";

/**
 * Feedback for pages fetched in the background: shows a bar while a page loads, announces the new
 * page's title, and reports if the gateway did not answer.
 */
export function NavFeedback() {
  const isLoading = useSignal(false);
  const title = useSignal("");

  useSignalEffect(() => {
    if (isLoading.value) return;
    // The page is in place a frame after it has been fetched.
    requestAnimationFrame(() => {
      revealCurrentRow();
      title.value = document.title;
    });
  });

  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
      if (link === null) return;
      Object.assign(link, { _freshIndicator: isLoading });
      const menu = link.closest("[popover]");
      if (menu instanceof HTMLElement) menu.hidePopover();
    };
    const onRejection = (event: PromiseRejectionEvent) => {
      if (!(event.reason instanceof TypeError)) return;
      event.preventDefault();
      const detail = "The gateway is not responding. Is it running?";
      toast("error", "The page could not be loaded", detail);
    };
    const stop = new AbortController();
    document.addEventListener("click", onClick, { capture: true, signal: stop.signal });
    addEventListener("unhandledrejection", onRejection, { signal: stop.signal });
    return () => stop.abort();
  }, []);

  return (
    <>
      <div class="nav-progress" data-loading={isLoading.value} aria-hidden="true" />
      <div class="visually-hidden" role="status">{title.value}</div>
    </>
  );
}

const ICONS: Record<Toast["kind"], IconName> = { success: "ready", info: "info", error: "error" };
const SHOWN_MS = 5_000;

export function Toaster() {
  return (
    <div class="toasts" role="region" aria-label="Messages" aria-live="polite">
      {toasts.value.map((toast) => <ToastCard key={toast.id} toast={toast} />)}
    </div>
  );
}

function ToastCard({ toast }: { toast: Toast }) {
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const wait = () => {
    if (toast.kind === "error") return;
    timer.current = setTimeout(() => dismissToast(toast.id), SHOWN_MS);
  };
  const hold = () => clearTimeout(timer.current);
  useEffect(() => {
    wait();
    return hold;
  }, []);
  return (
    <div
      class={`toast toast-${toast.kind}`}
      onMouseEnter={hold}
      onMouseLeave={wait}
      onFocusIn={hold}
      onFocusOut={wait}
    >
      <Icon name={ICONS[toast.kind]} />
      <div class="toast-text">
        <p>{toast.title}</p>
        {toast.detail === undefined ? null : <p class="muted">{toast.detail}</p>}
      </div>
      <button
        type="button"
        class="icon-button"
        aria-label="Dismiss"
        onClick={() => dismissToast(toast.id)}
      >
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}

const CONFIRMED_MS = 1_500;

/** Makes every `data-copy` button of every page copy; one listener for all of them. */
export function Copier() {
  useEffect(() => {
    const onClick = async (event: MouseEvent) => {
      const button = event.target instanceof Element && event.target.closest("[data-copy]");
      if (!(button instanceof HTMLElement)) return;
      try {
        await navigator.clipboard.writeText(button.dataset.copy ?? "");
        button.dataset.copied = "";
        setTimeout(() => delete button.dataset.copied, CONFIRMED_MS);
        toast("success", "Copied to the clipboard");
      } catch {
        toast("error", "Could not copy", "The browser did not allow it. Select the text instead.");
      }
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
  return null;
}
