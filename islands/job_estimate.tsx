import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { askApi } from "../lib/console/ui/ask_api.ts";
import {
  type Estimate,
  estimateWords,
  jobBodyOf,
  readEstimate,
  readJobFields,
} from "../lib/console/ui/job_form.ts";

interface JobEstimateProps {
  /** Missing where the form is about all servers. */
  server?: string;
  /** How many tools may be chosen. */
  enabled: number;
  chosen: number;
  estimate?: Estimate;
}

const TYPING_MS = 250;

/** Keeps the estimate true while the form around it is filled in, and chooses all at once. */
export default function JobEstimate({ server, enabled, chosen, estimate }: JobEstimateProps) {
  const root = useRef<HTMLDivElement>(null);
  const count = useSignal(chosen);
  const found = useSignal<Estimate | undefined>(estimate);
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
      const values = readJobFields(toParams(new FormData(form)), server);
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
            ? estimateWords(found.value)
            : isAsking.value
            ? "being worked out…"
            : "not known yet")}
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

function toParams(data: FormData): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of data) if (typeof value === "string") params.append(name, value);
  return params;
}
