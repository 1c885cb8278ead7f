import { useEffect } from "preact/hooks";
import { toast } from "../lib/console/ui/toast.ts";

const CONFIRMED_MS = 1_500;

/** Makes every `data-copy` button of every page copy; one listener for all of them. */
export default function Copier() {
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
