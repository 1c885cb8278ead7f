type Labels = Record<string, string>;
type MetricType = "counter" | "gauge" | "histogram";

interface MetricDescription {
  type: MetricType;
  help: string;
  labels?: readonly string[];
}

export const METRICS = {
  quartermaster_http_requests_total: {
    type: "counter",
    help: "HTTP requests",
    labels: ["method", "status"],
  },
  quartermaster_http_request_seconds: { type: "histogram", help: "Duration of HTTP requests" },
  quartermaster_mcp_requests_total: {
    type: "counter",
    help: "MCP requests by method and outcome",
    labels: ["method", "outcome"],
  },
  quartermaster_mcp_request_seconds: { type: "histogram", help: "Duration of MCP requests" },
  quartermaster_tool_calls_total: {
    type: "counter",
    help: "Tool calls by server, tool and outcome",
    labels: ["server", "tool", "outcome"],
  },
  quartermaster_tool_call_seconds: {
    type: "histogram",
    help: "Duration of tool calls by server",
    labels: ["server"],
  },
  quartermaster_content_findings_total: {
    type: "counter",
    help: "Findings of the content guard by server, kind and what was done",
    labels: ["server", "kind", "action"],
  },
  quartermaster_searches_total: {
    type: "counter",
    help: "Searches for tools by what they found",
    labels: ["tool", "outcome"],
  },
  quartermaster_evaluation_runs_total: {
    type: "counter",
    help: "Runs of this gateway's evaluations",
  },
  quartermaster_jobs_running: { type: "gauge", help: "Optimization jobs that run in this gateway" },
  quartermaster_approvals_waiting: {
    type: "gauge",
    help: "Calls that wait for a person's approval",
  },
  quartermaster_messages_waiting: {
    type: "gauge",
    help: "Messages to other gateways that are not written yet",
  },
  quartermaster_session_tokens: {
    type: "gauge",
    help:
      "Tokens of all sessions since startup: listing every tool, lists sent, answers sent, and saved",
    labels: ["kind"],
  },
  quartermaster_sessions: { type: "gauge", help: "Open MCP client sessions" },
  quartermaster_servers: { type: "gauge", help: "MCP servers by state", labels: ["state"] },
  quartermaster_tools: { type: "gauge", help: "Tools of all servers" },
  quartermaster_live_clients: { type: "gauge", help: "Open console event streams" },
  quartermaster_memory_bytes: { type: "gauge", help: "Resident memory size" },
  quartermaster_uptime_seconds: { type: "gauge", help: "Time since startup" },
} as const satisfies Record<string, MetricDescription>;

type MetricName<Type extends MetricType> = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]["type"] extends Type ? Name : never;
}[keyof typeof METRICS];

/** What a series has counted; of a histogram the sum, and how many were in each bucket. */
interface SeriesReading {
  labels: Labels;
  value: number;
  buckets?: readonly number[];
}

export interface MetricReading {
  name: string;
  type: MetricType;
  help: string;
  values: SeriesReading[];
}

/** One line of the text; a histogram has several names. */
interface Sample {
  metricName?: string;
  labels: Labels;
  value: number;
}

/** The part of prom-client that writes the text; only its whole package has types. */
interface TextRegistry {
  registerMetric(metric: {
    name: string;
    get(): { name: string; type: MetricType; help: string; values: Sample[] };
  }): void;
  metrics(): Promise<string>;
}

/** Series a label set may create; past it new ones are counted together as "other". */
const MAX_SERIES = 2_000;
export const DURATION_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];
const NONE: Labels = Object.freeze({});

/**
 * Counts in plain numbers, because calls wait for it: prom-client's own counters take twenty times
 * as long, and 10 MB. prom-client is loaded by the first scrape and writes the text.
 */
export class Metrics {
  readonly #readers = new Map<keyof typeof METRICS, () => SeriesReading[]>();

  /** Returns what counts; with frozen labels it only adds a number. */
  counter(name: MetricName<"counter">): (labels?: Labels, by?: number) => void {
    const series = new Series(() => ({ count: 0 }));
    this.#add(name, () => series.read((labels, { count }) => ({ labels, value: count })));
    return (labels = NONE, by = 1) => {
      series.of(labels).count += by;
    };
  }

  /** Registers a gauge; `read` runs at each scrape. */
  gauge(name: MetricName<"gauge">, read: () => number | [Labels, number][]): void {
    this.#add(name, () => {
      const value = read();
      if (typeof value === "number") return [{ labels: NONE, value }];
      return value.map(([labels, value]) => ({ labels, value }));
    });
  }

  durations(name: MetricName<"histogram">): (seconds: number, labels?: Labels) => void {
    const series = new Series(() => ({
      buckets: Array<number>(DURATION_BUCKETS.length + 1).fill(0),
      sum: 0,
    }));
    this.#add(
      name,
      () =>
        series.read((labels, { buckets, sum }) => ({ labels, value: sum, buckets: [...buckets] })),
    );
    return (seconds, labels = NONE) => {
      const entry = series.of(labels);
      const found = DURATION_BUCKETS.findIndex((limit) => seconds <= limit);
      entry.buckets[found === -1 ? DURATION_BUCKETS.length : found]! += 1;
      entry.sum += seconds;
    };
  }

  async render(): Promise<string> {
    const { default: Registry } = await import("prom-client/lib/registry.js");
    const registry: TextRegistry = new Registry();
    for (const { name, type, help, values } of this.read()) {
      const samples = values.flatMap((value) => samplesOf(name, value));
      registry.registerMetric({ name, get: () => ({ name, type, help, values: samples }) });
    }
    return await registry.metrics();
  }

  read(): MetricReading[] {
    return [...this.#readers].map(([name, read]) => {
      const { type, help } = METRICS[name];
      return { name, type, help, values: read() };
    });
  }

  #add(name: keyof typeof METRICS, read: () => SeriesReading[]): void {
    if (this.#readers.has(name)) throw new Error(`Cannot add metric "${name}": it already exists`);
    this.#readers.set(name, read);
  }
}

function samplesOf(name: string, { labels, value, buckets }: SeriesReading): Sample[] {
  if (!buckets) return [{ labels, value }];
  let total = 0;
  const samples = buckets.map((count, index): Sample => ({
    metricName: `${name}_bucket`,
    labels: { ...labels, le: String(DURATION_BUCKETS[index] ?? "+Inf") },
    value: total += count,
  }));
  return [
    ...samples,
    { metricName: `${name}_sum`, labels, value },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

class Series<T> {
  readonly #create: () => T;
  readonly #values = new Map<string, { labels: Labels; value: T }>();
  /** Frozen labels are those of callers that count often. */
  readonly #known = new WeakMap<Labels, T>();

  constructor(create: () => T) {
    this.#create = create;
  }

  of(labels: Labels): T {
    const known = this.#known.get(labels);
    if (known !== undefined) return known;
    const value = this.#find(labels);
    if (Object.isFrozen(labels)) this.#known.set(labels, value);
    return value;
  }

  read(read: (labels: Labels, value: T) => SeriesReading): SeriesReading[] {
    return [...this.#values.values()].map(({ labels, value }) => read(labels, value));
  }

  #find(labels: Labels): T {
    let key = keyOf(labels);
    const known = this.#values.get(key);
    if (known !== undefined) return known.value;
    if (this.#values.size >= MAX_SERIES) {
      labels = { series: "other" };
      key = keyOf(labels);
    }
    const { value } = this.#values.get(key) ?? { value: this.#create() };
    this.#values.set(key, { labels, value });
    return value;
  }
}

function keyOf(labels: Labels): string {
  let key = "";
  for (const name in labels) key += `${name}\0${labels[name]}\0`;
  return key;
}
