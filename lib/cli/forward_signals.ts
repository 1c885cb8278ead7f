/** Starts a process, and passes on to it each signal that asks this one to stop. */
export function spawnForwarding(command: Deno.Command): Deno.ChildProcess {
  const isWindows = Deno.build.os === "windows";
  const signals: Deno.Signal[] = isWindows
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  const forward = (signal: Deno.Signal) => {
    // On Windows the console reaches both, and this would end the other without a clean stop.
    if (isWindows) return;
    try {
      child.kill(signal);
    } catch { /* It has just ended. */ }
  };
  // First: a signal during the start would end only this process. Listeners run once it has started.
  for (const signal of signals) Deno.addSignalListener(signal, () => forward(signal));
  const child = command.spawn();
  return child;
}
