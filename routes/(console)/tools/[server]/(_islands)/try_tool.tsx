import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ConfirmPopover, Field, FormFailure, PostForm } from "../../../../../components/forms.tsx";
import { InertText } from "../../../../../components/text.tsx";
import { toolPath } from "../../../../../lib/console/ui/pages.ts";
import {
  fieldId,
  readArguments,
  readTryForm,
  TryField,
  type TryForm,
} from "../(_components)/try_fields.tsx";
import { requestCall, type TriedTool, TryResult } from "../(_components)/try_result.tsx";
import "../../../../../islands/frame.tsx";
// For fewer scripts: frame.tsx says how.

interface TryToolProps {
  server: string;
  tool: string;
  form: TryForm;
  /** Switched off: nobody can call it. */
  isOff: boolean;
  /** A call that was made without scripts. */
  tried?: TriedTool;
}

export function TryTool({ server, tool, form, isOff, tried }: TryToolProps) {
  const state = useSignal<Omit<TriedTool, "written">>(tried ?? {});
  const isCalling = useSignal(false);
  const request = useRef<AbortController>();
  const confirm = useRef<HTMLDivElement>(null);
  useEffect(() => () => request.current?.abort(), []);

  const written = tried?.written ?? { values: {}, json: "" };
  const { problems = [], outcome, error } = state.value;
  const problemOf = (name: string) => problems.find((problem) => problem.name === name)?.message;

  const submit = async (element: HTMLFormElement, isConfirmed: boolean) => {
    confirm.current?.hidePopover();
    const entries = [...new FormData(element)].filter((entry): entry is [string, string] =>
      typeof entry[1] === "string"
    );
    const read = readArguments(form.fields, readTryForm(entries));
    if ("problems" in read) {
      state.value = { problems: read.problems };
      document.getElementById(fieldId(read.problems[0]?.name ?? ""))?.focus();
      return;
    }
    const { signal } = request.current = new AbortController();
    isCalling.value = true;
    state.value = {};
    const call = { server, tool, arguments: read.args, confirmed: isConfirmed };
    const response = await requestCall(call, signal);
    isCalling.value = false;
    if (!signal.aborted) state.value = response;
  };

  if (isOff) {
    return (
      <p class="muted">
        This tool is off. Select it first, under Configure tools on its server's page.
      </p>
    );
  }
  return (
    <div class="try">
      <PostForm
        class="form form-wide"
        action={toolPath(server, tool)}
        onSubmit={(event) => {
          event.preventDefault();
          const by = event.submitter instanceof HTMLButtonElement ? event.submitter.value : "";
          if (!isCalling.value) void submit(event.currentTarget, by === "confirmed");
        }}
      >
        {form.fields.map((field) => (
          <TryField
            key={field.path}
            field={field}
            value={written.values[field.path] ?? ""}
            problem={problemOf(field.path)}
          />
        ))}
        {form.fields.length === 0 && !form.isJsonOnly
          ? <p class="muted">This tool takes no arguments.</p>
          : <Json isOnly={form.isJsonOnly} value={written.json} problem={problemOf("")} />}
        <div class="form-actions">
          {form.risk === undefined
            ? (
              <button
                type="submit"
                class="button button-primary"
                name="try"
                value="plain"
                aria-busy={isCalling.value}
              >
                Call tool
              </button>
            )
            : <ConfirmCall server={server} tool={tool} risk={form.risk} popover={confirm} />}
          {isCalling.value && (
            <>
              <span class="try-calling" role="status">Calling {server}…</span>
              <button
                type="button"
                class="button"
                onClick={() => {
                  request.current?.abort();
                  isCalling.value = false;
                }}
              >
                Cancel
              </button>
            </>
          )}
        </div>
      </PostForm>
      {error && <FormFailure error={error} />}
      {outcome && <TryResult outcome={outcome} />}
    </div>
  );
}

const RISKS: Record<NonNullable<TryForm["risk"]>, (server: string) => string> = {
  destroys: (server) => `${server} says that this tool may delete or overwrite things.`,
  changes: (server) => `This tool may change things: ${server} does not say that it only reads.`,
  asked: (server) =>
    `The configuration of ${server} marks this tool as one that may change things.`,
};

interface ConfirmCallProps extends Pick<TryToolProps, "server" | "tool"> {
  risk: NonNullable<TryForm["risk"]>;
  popover: RefObject<HTMLDivElement>;
}

function ConfirmCall({ server, tool, risk, popover }: ConfirmCallProps) {
  return (
    <>
      {/* The form's default button, or Enter in a field would press the one that confirms. */}
      <button type="submit" disabled hidden />
      <button type="button" class="button button-primary" popovertarget="try-confirm">
        Call tool
      </button>
      <ConfirmPopover
        id="try-confirm"
        popover={popover}
        title={
          <>
            Call <InertText text={tool} />?
          </>
        }
        text={`${RISKS[risk](server)} The call is real.`}
      >
        <button
          type="submit"
          class={risk === "destroys" ? "button button-danger" : "button button-primary"}
          name="try"
          value="confirmed"
        >
          Call it
        </button>
      </ConfirmPopover>
    </>
  );
}

function Json(
  { isOnly, value, problem }: { isOnly: boolean; value: string; problem: string | undefined },
) {
  const field = (
    <Field
      id="arg:"
      label={isOnly ? "Arguments as JSON" : "All arguments as JSON"}
      hint={
        <>
          {problem !== undefined && <strong class="try-problem" role="alert">{problem}.</strong>}
          {isOnly ? "The schema is too general for a form." : "Replaces the fields above."}
        </>
      }
    >
      <textarea
        id="arg:"
        name="json"
        class="input mono try-text"
        rows={3}
        spellcheck={false}
        placeholder="{ }"
        aria-describedby="arg:-hint"
        defaultValue={value}
      />
    </Field>
  );
  if (isOnly) return field;
  return (
    <details class="edit-words" open={value !== "" || problem !== undefined}>
      <summary>Enter JSON instead</summary>
      {field}
    </details>
  );
}
