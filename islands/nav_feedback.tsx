import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { revealCurrentRow } from "../lib/console/ui/row_focus.ts";
import { toast } from "../lib/console/ui/toast.ts";

/**
 * A page that is fetched in the background gives no sign of it: this shows a bar while a click
 * is on its way, reads the new page's title aloud, and says so when the gateway did not answer.
 */
export default function NavFeedback() {
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
      toast("error", "The page could not be loaded", "The gateway does not answer. Is it running?");
    };
    document.addEventListener("click", onClick, { capture: true });
    addEventListener("unhandledrejection", onRejection);
    return () => {
      document.removeEventListener("click", onClick, { capture: true });
      removeEventListener("unhandledrejection", onRejection);
    };
  }, []);

  return (
    <>
      <div class="nav-progress" data-loading={isLoading.value} aria-hidden="true" />
      <div class="visually-hidden" role="status">{title.value}</div>
    </>
  );
}
