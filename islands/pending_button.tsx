import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

interface PendingButtonProps {
  label: string;
  /** What is happening once it was pressed. */
  pending: string;
}

/** Sends the form around it, and says so until the next page is there. */
export default function PendingButton({ label, pending }: PendingButtonProps) {
  const isPending = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const form = button.current?.form;
    const onSubmit = (event: SubmitEvent) => {
      // A second press would do it twice.
      if (isPending.value) event.preventDefault();
      isPending.value = true;
    };
    // A page that comes back out of the browser's memory waits for nothing.
    const onShow = () => isPending.value = false;
    form?.addEventListener("submit", onSubmit);
    addEventListener("pageshow", onShow);
    return () => {
      form?.removeEventListener("submit", onSubmit);
      removeEventListener("pageshow", onShow);
    };
  }, []);
  return (
    <button ref={button} type="submit" class="button button-primary" aria-busy={isPending.value}>
      {isPending.value ? pending : label}
    </button>
  );
}
