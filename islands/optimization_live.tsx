import { useEffect, useRef } from "preact/hooks";
import { onLive } from "../lib/console/ui/live.ts";
import { isJobNews } from "../lib/console/ui/is_job_news.ts";
import { requestRefresh } from "../lib/console/ui/refresh.ts";
import { toast } from "../lib/console/ui/toast.ts";

/**
 * Fetches the page again where something about optimization changed that a job's own card does not
 * show: a job that began, a tool that is done, a promotion. Progress alone does not count.
 */
export default function OptimizationLive({ marks }: { marks: string[] }) {
  const known = useRef(new Set(marks));
  useEffect(() => {
    for (const mark of marks) known.current.add(mark);
  }, [marks]);
  useEffect(() =>
    onLive("optimization", (data) => {
      if (isJobNews(data)) {
        const { mark, status, title, note } = data;
        if (known.current.has(mark)) return;
        known.current.add(mark);
        const what = `The optimization of ${title}`;
        // One that did all that was asked has nothing to note.
        if (status === "completed" && note === undefined) toast("success", `${what} is complete`);
        else if (status === "completed") toast("info", `${what} has finished`, note);
        if (status === "failed") toast("error", `${what} failed`, note);
      }
      requestRefresh();
    }), []);
  return null;
}
