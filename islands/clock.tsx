import { useEffect } from "preact/hooks";
import { formatAgo, formatSpan } from "../lib/console/ui/format.ts";

const TICK_MS = 10_000;

/** Keeps "3 min ago" true while the page is open, and gives the exact time in local words. */
export default function Clock() {
  useEffect(() => {
    const tick = () => document.querySelectorAll("time[data-clock]").forEach(update);
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return null;
}

function update(element: Element): void {
  const at = Date.parse(element.getAttribute("datetime") ?? "");
  const text = element.firstChild;
  // The text node stays the same one: whoever rendered it compares against it later.
  if (Number.isNaN(at) || !(text instanceof Text)) return;
  const form = element.getAttribute("data-clock");
  const isSpan = form === "span";
  const exact = new Date(at).toLocaleString();
  const words = isSpan
    ? formatSpan(Date.now() - at)
    : form === "time"
    ? exact
    : formatAgo(at, Date.now());
  if (text.data !== words) text.data = words;
  element.setAttribute("title", isSpan ? `Since ${exact}` : exact);
}
