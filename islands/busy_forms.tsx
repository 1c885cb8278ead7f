import { useEffect } from "preact/hooks";

/** Says at once that a form is on its way, for those that a model may take long to answer. */
export default function BusyForms() {
  useEffect(() => {
    const onSubmit = ({ target, submitter }: SubmitEvent) => {
      if (!(target instanceof HTMLFormElement) || target.dataset.busy === undefined) return;
      if (!(submitter instanceof HTMLButtonElement)) return;
      submitter.textContent = target.dataset.busy;
      // Later, or the button's own value would not be sent.
      setTimeout(() => submitter.disabled = true);
    };
    document.addEventListener("submit", onSubmit);
    return () => document.removeEventListener("submit", onSubmit);
  }, []);
  return null;
}
