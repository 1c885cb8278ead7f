import { useEffect, useRef } from "preact/hooks";
import { onLive } from "../lib/console/ui/live.ts";
import { isJob, jobMark, jobProgress } from "../lib/console/ui/job_progress.ts";
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
      if (isJob(data)) {
        const mark = jobMark(data);
        if (known.current.has(mark)) return;
        known.current.add(mark);
        const { status, title } = jobProgress(data);
        if (status === "completed") toast("success", `The optimization of ${title} is complete`);
        if (status === "failed") toast("error", `The optimization of ${title} failed`, data.note);
      }
      requestRefresh();
    }), []);
  return null;
}
