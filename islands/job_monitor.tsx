import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { JobCard } from "../components/job_card.tsx";
import { askApi } from "../lib/console/ui/ask_api.ts";
import { isJobNews } from "../lib/console/ui/is_job_news.ts";
import { withNews } from "../lib/console/ui/job_news.ts";
import { onLive } from "../lib/console/ui/live.ts";
import type { ShownJob } from "../lib/console/ui/shown_job.ts";
import { toast } from "../lib/console/ui/toast.ts";

/** One job as it goes on. */
export default function JobMonitor({ job, isWhole }: { job: ShownJob; isWhole: boolean }) {
  const shown = useSignal(job);
  const asked = useSignal<string | undefined>(undefined);
  // The page was fetched again: what came with it is no older.
  useEffect(() => {
    shown.value = job;
  }, [job]);
  useEffect(() =>
    onLive("optimization", (data) => {
      if (isJobNews(data) && data.id === job.id) shown.value = withNews(shown.value, data);
    }), [job.id]);

  const ask = async (event: SubmitEvent, action: "pause" | "resume") => {
    event.preventDefault();
    asked.value = action === "pause" ? "Pausing…" : "Resuming…";
    try {
      await askApi(`/api/optimization/jobs/${encodeURIComponent(job.id)}/${action}`, {});
    } catch (error) {
      toast("error", `Could not ${action} it`, error instanceof Error ? error.message : "");
    } finally {
      asked.value = undefined;
    }
  };
  return <JobCard job={shown.value} isWhole={isWhole} asked={asked.value} onAsk={ask} />;
}
