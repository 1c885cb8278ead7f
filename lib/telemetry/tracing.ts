import {
  type Attributes,
  isSpanContextValid,
  type Span,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

/** Whether this process exports spans; asked once, because it cannot change while it runs. */
let isTracing: boolean | undefined;

function tracing(): boolean {
  if (isTracing === undefined) {
    const probe = trace.getTracer("quartermaster").startSpan("start");
    isTracing = isSpanContextValid(probe.spanContext());
    probe.end();
  }
  return isTracing;
}

/** Runs `work` inside a span where OTEL_DENO is set, and by itself elsewhere. */
export function withSpan<T>(
  name: string,
  attributes: Attributes,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  // Even a span that goes nowhere makes a context, which is a good part of a relayed call.
  if (!tracing()) return work();
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

/** Marks what a span stands for as failed. */
export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  if (error instanceof Error) span.recordException({ name: error.name, message: error.message });
}
