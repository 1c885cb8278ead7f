import { useEffect } from "preact/hooks";
import { onLive } from "../lib/console/ui/live.ts";

/** Shows the empty list where somebody cleared it elsewhere. */
export default function CallsCleared() {
  useEffect(() =>
    onLive("activity", (data) => {
      const isCleared = typeof data === "object" && data !== null && "cleared" in data;
      // A call that was open is gone as well: the list is all that is left to show.
      if (isCleared) location.assign(`/activity${location.search}`);
    }), []);
  return null;
}
