import { useEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "../components/icon.tsx";
import { dismissToast, type Toast, toasts } from "../lib/console/ui/toast.ts";

const ICONS: Record<Toast["kind"], IconName> = { success: "ready", info: "info", error: "error" };
const SHOWN_MS = 5_000;

/** Shows what `toast()` was told, in a corner and aloud. */
export default function Toaster() {
  return (
    <div class="toasts" role="region" aria-label="Messages" aria-live="polite">
      {toasts.value.map((toast) => <ToastCard key={toast.id} toast={toast} />)}
    </div>
  );
}

function ToastCard({ toast }: { toast: Toast }) {
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const wait = () => {
    if (toast.kind === "error") return;
    timer.current = setTimeout(() => dismissToast(toast.id), SHOWN_MS);
  };
  const hold = () => clearTimeout(timer.current);
  useEffect(() => {
    wait();
    return hold;
  }, []);
  return (
    <div
      class={`toast toast-${toast.kind}`}
      onMouseEnter={hold}
      onMouseLeave={wait}
      onFocusIn={hold}
      onFocusOut={wait}
    >
      <Icon name={ICONS[toast.kind]} />
      <div class="toast-text">
        <p>{toast.title}</p>
        {toast.detail === undefined ? null : <p class="muted">{toast.detail}</p>}
      </div>
      <button
        type="button"
        class="icon-button"
        aria-label="Dismiss"
        onClick={() => dismissToast(toast.id)}
      >
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}
