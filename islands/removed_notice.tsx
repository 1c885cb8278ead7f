import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { UNDO_REMOVAL } from "../lib/console/ui/paths.ts";

const OFFERED_S = 15;

/** Says what was removed, and offers to take it back for a while. */
export default function RemovedNotice({ id, name }: { id: string; name: string }) {
  const left = useSignal(OFFERED_S);
  useEffect(() => {
    const timer = setInterval(() => left.value--, 1_000);
    return () => clearInterval(timer);
  }, [id]);
  if (left.value <= 0) return null;
  return (
    <form class="notice removed" method="post" action={UNDO_REMOVAL} f-client-nav={false}>
      <Icon name="info" size={14} />
      <span role="status">
        <span class="mono">{name}</span> was removed.
      </span>
      <button type="submit" class="button" name="id" value={id}>
        Undo
        <span class="visually-hidden">the removal of {name}</span>
        <span class="muted needs-js number" aria-hidden="true">{left.value} s</span>
      </button>
    </form>
  );
}
