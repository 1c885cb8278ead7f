import { useEffect } from "preact/hooks";
import { pageMoment } from "../lib/console/ui/live.ts";

/** Says when the page that is shown was made. */
export default function PageMoment({ madeAt }: { madeAt: string | undefined }) {
  // Each time one was fetched, also where nothing had happened before it was made.
  useEffect(() => {
    pageMoment.value = { madeAt };
  });
  return null;
}
