import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { GatewayError } from "../core/errors.ts";
import { isObject, memberSpans, parseJson, replaceSpan } from "../core/rpc.ts";

/**
 * Whether this process exports spans. Callers on the call path ask first: even a span that goes
 * nowhere makes a context, which is a good part of a relayed call.
 */
export let isTracing = false;

/** Finds out whether spans are exported: by the runtime (OTEL_DENO) or by this process (--otlp). */
export function startTracing(): boolean {
  const probe = trace.getTracer("quartermaster").startSpan("start");
  isTracing = isSpanContextValid(probe.spanContext());
  probe.end();
  return isTracing;
}

export interface SpanStart {
  name: string;
  /** Whether the work answers a request, or makes one. */
  kind: "server" | "client";
  attributes: Attributes;
  /** The `_meta` of a request: the span continues the trace that it names, if any. */
  meta?: unknown;
}

/** Runs `work` inside a span if this process exports spans. */
export function withSpan<T>(
  { name, kind, attributes, meta }: SpanStart,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  if (!isTracing) return work();
  const remote = traceOf(meta);
  // The span that is active here is of another trace then.
  const here = remote && trace.getActiveSpan()?.spanContext();
  const options = {
    kind: kind === "server" ? SpanKind.SERVER : SpanKind.CLIENT,
    attributes,
    ...(here ? { links: [{ context: here }] } : {}),
  };
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

/**
 * By the OpenTelemetry conventions for MCP and GenAI: `tools/call NAME` for a call. A request of a client
 * continues the trace that it names; one to a server is part of the active trace.
 */
export function mcpSpan(
  kind: SpanStart["kind"],
  method: string,
  params: Record<string, unknown> | string | undefined,
  own: Attributes,
): SpanStart {
  const read = typeof params === "string" ? parseJson(params) : params;
  const { name, uri, _meta } = isObject(read) ? read : {};
  const meta = kind === "server" ? _meta : undefined;
  const attributes: Attributes = { "mcp.method.name": method, ...own };
  let target: unknown;
  if (method === "tools/call" && typeof name === "string") {
    attributes["gen_ai.operation.name"] = "execute_tool";
    attributes["gen_ai.tool.name"] = target = name;
  } else if (method === "prompts/get" && typeof name === "string") {
    attributes["gen_ai.prompt.name"] = target = name;
  } else if (typeof uri === "string") attributes["mcp.resource.uri"] = uri;
  return { name: target === undefined ? method : `${method} ${target}`, kind, attributes, meta };
}

export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("error.type", errorType(error));
  if (error instanceof Error) span.recordException({ name: error.name, message: error.message });
}

function errorType(error: unknown): string {
  if (error instanceof GatewayError) return error.code;
  return error instanceof Error ? error.name : String(error);
}

/** The trace that is active, as log lines name it. */
export function traceFields(): { trace_id: string; span_id: string } | undefined {
  const span = isTracing ? trace.getActiveSpan()?.spanContext() : undefined;
  return span && { trace_id: span.traceId, span_id: span.spanId };
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
