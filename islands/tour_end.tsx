import { useEffect } from "preact/hooks";
import { postAction } from "../lib/console/ui/post_action.ts";

/** Remembers that the tour came to its end, once its last words have been left. */
export default function TourEnd() {
  useEffect(() => {
    const finish = () => {
      // Whether it is kept or not, the reader has what they came for.
      postAction({ action: "finish-tour" }).catch(() => {});
    };
    addEventListener("pagehide", finish);
    return () => {
      removeEventListener("pagehide", finish);
      finish();
    };
  }, []);
  return null;
}
