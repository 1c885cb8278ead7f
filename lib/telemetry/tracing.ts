import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  type Span,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { isObject, memberSpans, replaceSpan } from "../core/rpc.ts";

/**
 * Whether this process exports spans. Callers on the call path ask first: even a span that goes
 * nowhere makes a context, which is a good part of a relayed call.
 */
export let isTracing = false;

/** Finds out whether OTEL_DENO is set, which cannot change while the process runs. */
export function startTracing(): void {
  const probe = trace.getTracer("quartermaster").startSpan("start");
  isTracing = isSpanContextValid(probe.spanContext());
  probe.end();
}

/**
 * Runs `work` inside a span if this process exports spans. `meta` is the `_meta` of a request: the span
 * continues the trace that it names, if any.
 */
export function withSpan<T>(
  name: string,
  attributes: Attributes,
  work: (span?: Span) => Promise<T>,
  meta?: unknown,
): Promise<T> {
  if (!isTracing) return work();
  const remote = traceOf(meta);
  // The span that is active here is of another trace then.
  const here = remote && trace.getActiveSpan()?.spanContext();
  const options = { attributes, ...(here ? { links: [{ context: here }] } : {}) };
  const parent = remote ?? context.active();
  return trace.getTracer("quartermaster").startActiveSpan(name, options, parent, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  if (error instanceof Error) span.recordException({ name: error.name, message: error.message });
}

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/;

/** The trace that a request belongs to, by `traceparent` and `tracestate` in its `_meta`. */
function traceOf(meta: unknown): Context | undefined {
  const { traceparent, tracestate } = isObject(meta) ? meta : {};
  const [, traceId, spanId, flags] = TRACEPARENT.exec(String(traceparent)) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  const spanContext = {
    traceId,
    spanId,
    traceFlags: parseInt(flags!, 16),
    isRemote: true,
    ...(typeof tracestate === "string" ? { traceState: createTraceState(tracestate) } : {}),
  };
  return isSpanContextValid(spanContext)
    ? trace.setSpanContext(context.active(), spanContext)
    : undefined;
}

/** The params of a request whose trace goes on from this span. */
export function tracedParams(params: string | undefined, span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, "0");
  const traceparent = JSON.stringify(`00-${traceId}-${spanId}-${flags}`);
  const member = `"traceparent":${traceparent}`;
  if (params === undefined) return `{"_meta":{${member}}}`;
  const meta = memberSpans(params).get("_meta");
  if (!meta || params[meta.start] !== "{") {
    return meta ? params : withFirst(params, params.indexOf("{"), `"_meta":{${member}}`);
  }
  const known = memberSpans(params, meta.start).get("traceparent");
  return known ? replaceSpan(params, known, traceparent) : withFirst(params, meta.start, member);
}

/** The text with one member more at the beginning of the object there. */
function withFirst(text: string, start: number, member: string): string {
  const rest = text.slice(start + 1);
  const comma = rest.trimStart().startsWith("}") ? "" : ",";
  return `${text.slice(0, start + 1)}${member}${comma}${rest}`;
}
