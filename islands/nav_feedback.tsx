import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { toast } from "../lib/console/ui/toast.ts";

/**
 * A page that is fetched in the background gives no sign of it: this shows a bar while a click
 * is on its way, and says so when the gateway did not answer.
 */
export default function NavFeedback() {
  const isLoading = useSignal(false);
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element && event.target.closest("a[href]");
      if (link) Object.assign(link, { _freshIndicator: isLoading });
      document.querySelectorAll("[popover]").forEach((menu) => {
        if (link && menu instanceof HTMLElement && menu.contains(link)) menu.hidePopover();
      });
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
  return <div class="nav-progress" data-loading={isLoading.value} aria-hidden="true" />;
}
