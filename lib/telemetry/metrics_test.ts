import assert from "node:assert/strict";
import { METRICS, Metrics } from "./metrics.ts";

Deno.test("Metrics.render() writes the Prometheus text format", async () => {
  const metrics = new Metrics();
  const count = metrics.counter("quartermaster_http_requests_total");
  count({ method: 'a"b\\c\nd' });
  count({ method: 'a"b\\c\nd' }, 2);
  metrics.gauge("quartermaster_servers", () => [[{ state: "ready" }, 3], [{ state: "failed" }, 0]]);
  metrics.gauge("quartermaster_uptime_seconds", () => 12.5);
  const observe = metrics.durations("quartermaster_http_request_seconds");
  observe(0.002);
  observe(100);
  const text = await metrics.render();
  assert.ok(text.endsWith("\n"));
  const lines = text.split("\n").filter((line) => line !== "");
  assert.deepEqual(lines.slice(0, 8), [
    "# HELP quartermaster_http_requests_total HTTP requests",
    "# TYPE quartermaster_http_requests_total counter",
    'quartermaster_http_requests_total{method="a\\"b\\\\c\\nd"} 3',
    "# HELP quartermaster_servers MCP servers by state",
    "# TYPE quartermaster_servers gauge",
    'quartermaster_servers{state="ready"} 3',
    'quartermaster_servers{state="failed"} 0',
    "# HELP quartermaster_uptime_seconds Time since startup",
  ]);
  const name = "quartermaster_http_request_seconds";
  assert.ok(lines.includes(`# TYPE ${name} histogram`));
  assert.ok(lines.includes(`${name}_bucket{le="0.001"} 0`));
  assert.ok(lines.includes(`${name}_bucket{le="0.005"} 1`));
  assert.ok(lines.includes(`${name}_bucket{le="+Inf"} 2`));
  assert.ok(lines.includes(`${name}_sum 100.002`));
  assert.ok(lines.includes(`${name}_count 2`));
});

Deno.test("Metrics.render() reads everything again at each scrape", async () => {
  const metrics = new Metrics();
  const count = metrics.counter("quartermaster_http_requests_total");
  const labels = Object.freeze({ method: "GET", status: "200" });
  count(labels);
  assert.match(await metrics.render(), /_total\{method="GET",status="200"\} 1\n/);
  count(labels);
  count({ ...labels });
  assert.match(await metrics.render(), /_total\{method="GET",status="200"\} 3\n/);
});

Deno.test("Metrics bounds the number of series a label can create", async () => {
  const metrics = new Metrics();
  const count = metrics.counter("quartermaster_http_requests_total");
  for (let index = 0; index < 3_000; index++) count({ method: `t${index}` });
  const lines = (await metrics.render()).split("\n");
  assert.ok(lines.length < 2_010);
  assert.ok(lines.includes('quartermaster_http_requests_total{series="other"} 1000'));
});

Deno.test("METRICS are named after their type, as Prometheus asks for", () => {
  for (const [name, { type, help }] of Object.entries(METRICS)) {
    assert.match(name, /^quartermaster_[a-z_]+$/);
    assert.equal(name.endsWith("_total"), type === "counter", name);
    assert.equal(name.endsWith("_seconds") && type !== "gauge", type === "histogram", name);
    assert.match(help, /^[A-Z][^.]+$/);
  }
});
