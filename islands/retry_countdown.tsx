import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { retryWords } from "../lib/console/ui/retry_words.ts";

interface RetryCountdownProps {
  /** When it is tried again, by the gateway's clock. */
  at: number;
  /** What that clock said when the page was made: the reader's may be another. */
  madeAt: number;
}

const TICK_MS = 1000;

/** Counts down to the next try; what follows that comes over the live channel. */
export default function RetryCountdown({ at, madeAt }: RetryCountdownProps) {
  const msLeft = useSignal<number | undefined>(undefined);
  useEffect(() => {
    const end = Date.now() + at - madeAt;
    const tick = () => msLeft.value = end - Date.now();
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [at]);
  return <>{retryWords(msLeft.value)}</>;
}
