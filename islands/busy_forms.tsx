import { useEffect } from "preact/hooks";

/** A page that has not come by then may never come: the button works again. */
const LONGEST_MS = 10_000;

/** Says at once that a form is on its way, for those that a model may take long to answer. */
export default function BusyForms() {
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const resets = new Map<HTMLButtonElement, () => void>();
    const resetAll = () => {
      for (const reset of resets.values()) reset();
    };
    const onSubmit = ({ target, submitter }: SubmitEvent) => {
      if (!(target instanceof HTMLFormElement) || target.dataset.busy === undefined) return;
      if (!(submitter instanceof HTMLButtonElement) || resets.has(submitter)) return;
      const before = [...submitter.childNodes];
      submitter.replaceChildren(target.dataset.busy);
      // Later, or the button's own value would not be sent.
      const disabling = setTimeout(() => submitter.disabled = true);
      const waiting = setTimeout(() => resets.get(submitter)?.(), LONGEST_MS);
      resets.set(submitter, () => {
        clearTimeout(disabling);
        clearTimeout(waiting);
        resets.delete(submitter);
        submitter.replaceChildren(...before);
        submitter.disabled = false;
      });
    };
    document.addEventListener("submit", onSubmit, { signal });
    // The page may come back as it was left.
    addEventListener("pageshow", resetAll, { signal });
    return () => {
      stop.abort();
      resetAll();
    };
  }, []);
  return null;
}
