import assert from "node:assert/strict";
import { Metrics } from "./metrics.ts";

Deno.test("Metrics.render() writes the Prometheus text format", () => {
  const metrics = new Metrics();
  const count = metrics.counter("calls_total", "Calls");
  count({ server: 'a"b\\c\nd' });
  count({ server: 'a"b\\c\nd' }, 2);
  metrics.gauge("servers", "Servers", () => [[{ state: "ready" }, 3], [{ state: "failed" }, 0]]);
  metrics.gauge("uptime_seconds", "Uptime", () => 12.5);
  const observe = metrics.durations("request_seconds", "Requests");
  observe(0.002);
  observe(100);
  const lines = metrics.render().split("\n");
  assert.deepEqual(lines.slice(0, 8), [
    "# HELP calls_total Calls",
    "# TYPE calls_total counter",
    'calls_total{server="a\\"b\\\\c\\nd"} 3',
    "# HELP servers Servers",
    "# TYPE servers gauge",
    'servers{state="ready"} 3',
    'servers{state="failed"} 0',
    "# HELP uptime_seconds Uptime",
  ]);
  assert.ok(lines.includes('request_seconds_bucket{le="0.001"} 0'));
  assert.ok(lines.includes('request_seconds_bucket{le="0.005"} 1'));
  assert.ok(lines.includes('request_seconds_bucket{le="+Inf"} 2'));
  assert.ok(lines.includes("request_seconds_count 2"));
});

Deno.test("Metrics bounds the number of series a label can create", () => {
  const metrics = new Metrics();
  const count = metrics.counter("calls_total", "Calls");
  for (let index = 0; index < 3_000; index++) count({ tool: `t${index}` });
  const lines = metrics.render().split("\n");
  assert.ok(lines.length < 2_010);
  assert.ok(lines.includes('calls_total{series="other"} 1000'));
});
