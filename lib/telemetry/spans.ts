import { type Attributes, type Span, SpanStatusCode, trace } from "@opentelemetry/api";

/** Runs `work` inside a span; exported only where OTEL_DENO is set, and free of cost elsewhere. */
export function withSpan<T>(
  name: string,
  attributes: Attributes,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return trace.getTracer("quartermaster").startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      if (error instanceof Error) {
        span.recordException({ name: error.name, message: error.message });
      }
      throw error;
    } finally {
      span.end();
    }
  });
}
