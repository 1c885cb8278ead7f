/** Passes on to a process, once it has started, each signal that asks this one to stop. */
export function forwardSignals(): (child: Pick<Deno.ChildProcess, "kill">) => void {
  const isWindows = Deno.build.os === "windows";
  const signals: Deno.Signal[] = isWindows
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  let child: Pick<Deno.ChildProcess, "kill"> | undefined;
  let early: Deno.Signal | undefined;
  const forward = (signal: Deno.Signal) => {
    // On Windows the console reaches both, and this would end the other without a clean stop.
    if (isWindows) return;
    early = signal;
    try {
      child?.kill(signal);
    } catch { /* It has just ended. */ }
  };
  for (const signal of signals) Deno.addSignalListener(signal, () => forward(signal));
  return (started) => {
    child = started;
    if (early !== undefined) forward(early);
  };
}
