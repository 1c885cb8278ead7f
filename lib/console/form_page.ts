import { page } from "fresh";
import * as z from "zod";
import type { Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import type { Gateway } from "../gateway.ts";
import { choicesOf, fieldsOf, readTexts } from "../operations/fields.ts";
import { type Operation, type OperationCall, runOperation } from "../operations/operation.ts";
import type { Services } from "../operations/services.ts";
import { callOf } from "./api.ts";
import { define, formOf } from "./define.ts";
import { type FormError, formError, submitForm } from "./errors.ts";

interface FormDecision {
  operation: Operation;
  /** Input for fields that the form does not have. */
  defaults?: Record<string, string>;
  /** What the page says afterwards. */
  done?: string;
  /** Fields on the page that show their own problems. */
  fields?: readonly string[];
  /** Tells what of the operation failed, if it did the rest. */
  // deno-lint-ignore no-explicit-any -- as the operation's own output
  failure?(output: any): PartialFailure | undefined;
}

/** What a page's forms can decide, by the value of their field `action`. */
export type FormDecisions = Record<string, FormDecision>;

/** The result of a form, beside a page's own data. */
export interface FormOutcome {
  done?: string | undefined;
  refused?: FormError | undefined;
  /** The rest was changed. */
  isPartial?: boolean;
  /** What is wrong with a field, by its name; said beside the field only. */
  problems?: Record<string, string> | undefined;
}

interface FormPage<Data> {
  title: string;
  path: string;
  decisions: FormDecisions;
  /** Default: read and manage. */
  rights?: readonly Right[];
  /** `form` is what was sent, if it was refused or is shown again by `asks`. */
  load(
    gateway: Gateway,
    query: URLSearchParams,
    call: OperationCall,
    form?: URLSearchParams,
  ): Promise<Data>;
  /** Whether a form changes nothing yet: the page is shown with a question about it. */
  asks?(form: URLSearchParams): boolean;
  /** More for the URL of the page that follows. */
  after?(decided: Awaited<ReturnType<typeof decideByForm>>): Record<string, string>;
}

/** Handlers of a page whose forms are sent to the page itself and run operations. */
export function formPage<Data>(
  { title, path, decisions, rights = ["read", "manage"], load, asks, after }: FormPage<Data>,
) {
  return define.handlers<Data & FormOutcome>({ GET: rights, POST: ["manage"] }, {
    async GET(ctx) {
      ctx.state.title = title;
      const { searchParams: query } = ctx.url;
      const data = await load(ctx.state.gateway, query, callOf(ctx, "console"));
      return page({ ...data, done: findDecision(decisions, query.get("done"))?.done });
    },

    async POST(ctx) {
      ctx.state.title = title;
      const { gateway } = ctx.state;
      const { searchParams: query } = ctx.url;
      const form = await formOf(ctx);
      const call = callOf(ctx, "console");
      if (asks?.(form)) {
        const data = await load(gateway, query, call, form);
        return page<Data & FormOutcome>({ ...data, isPartial: false });
      }
      return await submitForm<Data & FormOutcome>(ctx, async () => {
        const decided = await decideByForm(decisions, gateway, form, call);
        const next = { done: decided.decision, ...after?.(decided) };
        for (const [name, value] of Object.entries(next)) query.set(name, value);
        return `${path}?${query}`;
      }, async (error) => ({
        ...await load(gateway, query, call, form),
        ...formOutcome(decisions, form, error),
      }));
    },
  });
}

/** What an operation on several things could not do; it has done the rest. */
export class PartialFailure extends GatewayError {}

/** Runs what a form decides: the field `action` names the decision, the others are its input. */
export async function decideByForm(
  decisions: FormDecisions,
  services: Services,
  form: URLSearchParams,
  call: OperationCall,
) {
  const decision = form.get("action") ?? "";
  const found = findDecision(decisions, decision);
  if (found === undefined) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "The form was sent without an action",
      recoveryAction: "Reload the page and try again",
    });
  }
  const output = await runOperation(found.operation, services, inputOf(found, form), call);
  const failure = found.failure?.(output);
  if (failure) throw failure;
  return { decision, output };
}

/** Why a form was refused: beside its fields if only they are wrong, else above the page. */
export function formOutcome(
  decisions: FormDecisions,
  form: URLSearchParams,
  error: GatewayError,
): FormOutcome {
  const decision = findDecision(decisions, form.get("action"));
  const { fields = [], operation } = decision ?? {};
  const issues = decision && operation?.input.safeParse(inputOf(decision, form)).error?.issues;
  const problems = issues?.map(({ path, message }) => [String(path[0]), message] as const) ?? [];
  return problems.length > 0 && problems.every(([name]) => fields.includes(name))
    ? { problems: Object.fromEntries(problems) }
    : { refused: formError(error), isPartial: error instanceof PartialFailure };
}

function findDecision(decisions: FormDecisions, name: string | null): FormDecision | undefined {
  return name !== null && Object.hasOwn(decisions, name) ? decisions[name] : undefined;
}

function inputOf({ operation, defaults = {} }: FormDecision, form: URLSearchParams) {
  const fields = [...form].filter(([name]) => name !== "action");
  const missing = Object.entries(defaults).filter(([name]) => !form.has(name));
  return readTexts(operation.input, [...missing, ...fields]);
}

/** What a form shows for a field of an operation's input: its text and limits are the schema's. */
export function describeInput({ input }: Operation, name: string) {
  const field = fieldsOf(input).find((field) => field.name === name);
  if (!field) throw new TypeError(`There is no input field ${name}`);
  const { maxLength, minimum, maximum } = z.toJSONSchema(field.type, {
    io: "input",
    unrepresentable: "any",
  });
  return {
    label: `${name[0]!.toUpperCase()}${name.slice(1)}`,
    hint: field.description,
    required: field.isRequired,
    choices: choicesOf(field),
    limits: { maxLength, min: minimum, max: maximum },
  };
}
