import { TransportHarness } from "./transport_harness.ts";

// Takes a line of 300 MB through a transport and prints by how many bytes that grew this process.

function peakBytes(): number {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(Deno.readTextFileSync("/proc/self/status"))?.[1];
  return Number(kib) * 1024;
}

const answer = `{"jsonrpc":"2.0","id":1,"result":"still here"}`;
const script =
  `read -r line; head -c 300000000 /dev/zero | tr '\\0' x; echo; echo '${answer}'; cat`;
await using harness = await TransportHarness.open({ command: "sh", args: ["-c", script] });
const before = peakBytes();
const result = await harness.call("any");
const report = { result, growth: peakBytes() - before, warnings: harness.warnings };
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(report)));
