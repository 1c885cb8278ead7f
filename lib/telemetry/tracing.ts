import {
  type Attributes,
  isSpanContextValid,
  type Span,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

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

/** Runs `work` inside a span if this process exports spans. */
export function withSpan<T>(
  name: string,
  attributes: Attributes,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  if (!isTracing) return work();
  return trace.getTracer("quartermaster").startActiveSpan(name, { attributes }, async (span) => {
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
