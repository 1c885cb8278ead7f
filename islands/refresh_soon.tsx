import { useEffect, useRef } from "preact/hooks";
import { requestRefresh } from "../lib/console/ui/refresh.ts";

const SOON_MS = 1_200;
const MOST_MS = 30_000;

/** Looks again for what was still being worked out when the page was made. */
export default function RefreshSoon({ madeAt }: { madeAt: number }) {
  const looks = useRef(0);
  useEffect(() => {
    // Less and less often: what does not come soon may not come at all.
    const wait = Math.min(SOON_MS * 1.5 ** looks.current++, MOST_MS);
    const timer = setTimeout(requestRefresh, wait);
    return () => clearTimeout(timer);
  }, [madeAt]);
  return null;
}
