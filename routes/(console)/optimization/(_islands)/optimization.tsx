import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { JobCard } from "../(_components)/job_card.tsx";
import { askApi } from "../../../../lib/console/ui/api.ts";
import {
  formatEstimate,
  jobBodyOf,
  readEstimate,
  readJobFields,
  type ShownEstimate,
} from "../(_page)/browser.ts";
import { isJobNews, type ShownJob, withNews } from "../../../../lib/console/ui/jobs.ts";
import { onLive, requestRefresh } from "../../../../lib/console/ui/live.ts";
import { toast } from "../../../../lib/console/ui/toast.ts";
// For fewer scripts: frame.tsx says how.
import "../../../../islands/frame.tsx";

export function JobMonitor({ job, isWhole }: { job: ShownJob; isWhole: boolean }) {
  const shown = useSignal(job);
  const asked = useSignal<string | undefined>(undefined);
  // The page was fetched again: its data is at least as new.
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
      toast("error", `Could not ${action} the job`, error instanceof Error ? error.message : "");
    } finally {
      asked.value = undefined;
    }
  };
  return <JobCard job={shown.value} isWhole={isWhole} asked={asked.value} onAsk={ask} />;
}

interface LiveEstimateProps {
  /** Missing where the form is about all servers. */
  server: string | undefined;
  enabled: number;
  chosen: number;
  estimate: ShownEstimate | undefined;
}

const TYPING_MS = 250;

export function LiveEstimate({ server, enabled, chosen, estimate }: LiveEstimateProps) {
  const root = useRef<HTMLDivElement>(null);
  const count = useSignal(chosen);
  const found = useSignal(estimate);
  const trouble = useSignal<string | undefined>(undefined);
  const isAsking = useSignal(false);

  // The page was fetched again, and may have other boxes ticked.
  useEffect(() => {
    const form = root.current?.closest("form");
    if (form) count.value = countChosen(form);
  }, [chosen]);

  // At once: what was entered before the page woke is told right after.
  useLayoutEffect(() => {
    const form = root.current?.closest("form");
    if (!form) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asking = new AbortController();
    const ask = async () => {
      const { signal } = asking = new AbortController();
      const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
      const values = readJobFields(new URLSearchParams(fields), server);
      if (server !== undefined && values.tools.length === 0) return;
      isAsking.value = true;
      try {
        const answer = await askApi("/api/optimization/estimate", jobBodyOf(values), signal);
        found.value = readEstimate(answer);
        trouble.value = undefined;
      } catch (error) {
        if (signal.aborted) return;
        trouble.value = error instanceof Error ? error.message : String(error);
      } finally {
        if (!signal.aborted) isAsking.value = false;
      }
    };
    const onInput = () => {
      count.value = countChosen(form);
      clearTimeout(timer);
      // What was asked before must not change the numbers any more.
      asking.abort();
      timer = setTimeout(ask, TYPING_MS);
    };
    form.addEventListener("input", onInput);
    if (estimate === undefined) onInput();
    return () => {
      form.removeEventListener("input", onInput);
      clearTimeout(timer);
      asking.abort();
    };
  }, []);

  const chooseAll = () => {
    const form = root.current?.closest("form");
    for (const box of form?.querySelectorAll("input[name=tool]:enabled") ?? []) {
      if (box instanceof HTMLInputElement) box.checked = true;
    }
    form?.dispatchEvent(new Event("input"));
  };

  const isEmpty = server !== undefined && count.value === 0;
  return (
    <div class="estimate" ref={root}>
      {server === undefined ? null : (
        <p class="estimate-chosen">
          Selected for optimization: {count.value} of {enabled} enabled tools{" "}
          <button type="button" class="link-button needs-js" onClick={chooseAll}>
            Select all enabled
          </button>
        </p>
      )}
      <p role="status" class="estimate-words">
        <span class="muted">Estimate:</span>{" "}
        {isEmpty ? "select at least one tool" : trouble.value ??
          (found.value
            ? formatEstimate(found.value)
            : isAsking.value
            ? "calculating…"
            : "not available yet")}
      </p>
      {!isEmpty && trouble.value === undefined && found.value !== undefined && (
        <p class="hint">{found.value.basis}.</p>
      )}
    </div>
  );
}

function countChosen(form: HTMLFormElement): number {
  return form.querySelectorAll("input[name=tool]:checked").length;
}

/**
 * Refetches the page if optimization changed in a way that a job's own card does not show: a job
 * that began, a tool that is done, a promotion. Progress alone does not count.
 */
export function OptimizationLive({ marks }: { marks: string[] }) {
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
        const what = `Optimization of ${title}`;
        // A job that completed everything has no note.
        if (status === "completed" && note === undefined) toast("success", `${what} is complete`);
        else if (status === "completed") toast("info", `${what} has finished`, note);
        if (status === "failed") toast("error", `${what} failed`, note);
      }
      requestRefresh();
    }), []);
  return null;
}
