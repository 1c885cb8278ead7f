/**
 * Sends spans and metrics to an OpenTelemetry collector. Loaded only with `--otlp`; the packages read
 * the usual variables themselves (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, ...).
 */
import { context, diag, DiagLogLevel, trace, ValueType } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { VERSION } from "../core/product.ts";
import { DURATION_BUCKETS, type MetricReading, type Metrics } from "./metrics.ts";

const APP = "quartermaster";
const WARN_MS = 60_000;
/** Limit for the last export when the gateway stops. */
const STOP_MS = 2_000;

interface ExportOptions {
  metrics: Metrics;
  /** Tells this process from others of the same service. */
  instance: string;
  startedAt: number;
  onWarning(message: string, details?: object): void;
}

export function startExport(options: ExportOptions): AsyncDisposable {
  const { metrics, instance, startedAt, onWarning } = options;
  let warnedAt = -Infinity;
  // An unreachable collector would otherwise log a line for each batch.
  const warn = (message: string, ...details: unknown[]) => {
    if (performance.now() - warnedAt < WARN_MS) return;
    warnedAt = performance.now();
    onWarning("Cannot send traces or metrics", { reason: [message, ...details].join(" ") });
  };
  const quiet = () => {};
  diag.setLogger({ error: warn, warn, info: quiet, debug: quiet, verbose: quiet }, {
    logLevel: DiagLogLevel.WARN,
    suppressOverrideMessage: true,
  });
  const resource = resourceFromAttributes({
    "service.name": APP,
    "service.version": VERSION,
    "service.instance.id": instance,
  }).merge(detectResources({
    detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector],
  }));
  const tracers = new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: rootSampler() }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        ...milliseconds("OTEL_BSP_SCHEDULE_DELAY", "scheduledDelayMillis"),
      }),
    ],
  });
  const meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(),
        metricProducers: [{
          collect: () =>
            Promise.resolve({
              resourceMetrics: {
                resource,
                scopeMetrics: [{
                  scope: { name: APP, version: VERSION },
                  metrics: metrics.read().map((reading) => metricData(reading, startedAt)),
                }],
              },
              errors: [],
            }),
        }],
        ...milliseconds("OTEL_METRIC_EXPORT_INTERVAL", "exportIntervalMillis"),
        ...milliseconds("OTEL_METRIC_EXPORT_INTERVAL", "exportTimeoutMillis"),
      }),
    ],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contexts);
  trace.setGlobalTracerProvider(tracers);
  return {
    async [Symbol.asyncDispose]() {
      trace.disable();
      context.disable();
      const ended = Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([ended, new Promise((end) => timer = setTimeout(end, STOP_MS))]);
      clearTimeout(timer);
      diag.disable();
    },
  };
}

/** OTEL_TRACES_SAMPLER, for traces that begin here; others are sampled as the client decided. */
function rootSampler(): Sampler {
  const name = Deno.env.get("OTEL_TRACES_SAMPLER") ?? "";
  if (name.endsWith("always_off")) return new AlwaysOffSampler();
  const ratio = Number(Deno.env.get("OTEL_TRACES_SAMPLER_ARG") ?? 1);
  return name.endsWith("traceidratio")
    ? new TraceIdRatioBasedSampler(ratio)
    : new AlwaysOnSampler();
}

function milliseconds<Name extends string>(
  variable: string,
  name: Name,
): { [Key in Name]?: number } {
  const value = Number(Deno.env.get(variable) ?? NaN);
  return value > 0 ? { [name]: value } as { [Key in Name]: number } : {};
}

function metricData({ name, type, help, values }: MetricReading, startedAt: number): MetricData {
  const now = Date.now();
  const shared = {
    startTime: timeOf(startedAt),
    endTime: timeOf(now),
  };
  const common = {
    descriptor: {
      name,
      description: help,
      unit: name.endsWith("_seconds") ? "s" : name.endsWith("_bytes") ? "By" : "1",
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = values.map(({ labels, value }) => ({ ...shared, attributes: labels, value }));
  if (type === "counter") {
    return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points };
  }
  if (type === "gauge") {
    return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points };
  }
  return {
    ...common,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: values.map(({ labels, value: sum, buckets = [] }) => ({
      ...shared,
      attributes: labels,
      value: {
        sum,
        count: buckets.reduce((total, count) => total + count, 0),
        buckets: { boundaries: [...DURATION_BUCKETS], counts: [...buckets] },
      },
    })),
  };
}

function timeOf(ms: number): [number, number] {
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}
