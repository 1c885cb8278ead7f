import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { FormFailure } from "../components/form_failure.tsx";
import { InertText } from "../components/inert_text.tsx";
import { TryField } from "../components/try_field.tsx";
import { TryResult } from "../components/try_result.tsx";
import { toolPath } from "../lib/console/ui/paths.ts";
import { argumentsOf, fieldId, readTryForm, type TryForm } from "../lib/console/ui/try_fields.ts";
import { askToTry, type TriedTool } from "../lib/console/ui/try_outcome.ts";

interface TryToolProps {
  server: string;
  tool: string;
  form: TryForm;
  /** Switched off: nobody can call it. */
  isOff: boolean;
  /** A call that was made without scripts. */
  tried?: TriedTool;
}

/** Why it is asked whether a tool is to be called. */
const RISKS: Record<NonNullable<TryForm["risk"]>, (server: string) => string> = {
  destroys: (server) => `${server} says that this tool may delete or overwrite things.`,
  changes: (server) => `This tool may change things: ${server} does not say that it only reads.`,
  asked: (server) => `The entry of ${server} has this tool as one that may change things.`,
};

/** A form for a tool's arguments that calls it and shows what came. */
export default function TryTool({ server, tool, form, isOff, tried }: TryToolProps) {
  const state = useSignal<Omit<TriedTool, "words">>(tried ?? {});
  const isCalling = useSignal(false);
  const asking = useRef<AbortController>();
  const confirm = useRef<HTMLDivElement>(null);
  useEffect(() => () => asking.current?.abort(), []);

  const words = tried?.words ?? { values: {}, json: "" };
  const { problems = [], outcome, error } = state.value;
  const problemOf = (name: string) => problems.find((problem) => problem.name === name)?.message;

  const submit = async (element: HTMLFormElement, isConfirmed: boolean) => {
    confirm.current?.hidePopover();
    const entries = [...new FormData(element)].filter((entry): entry is [string, string] =>
      typeof entry[1] === "string"
    );
    const read = argumentsOf(form.fields, readTryForm(entries));
    if ("problems" in read) {
      state.value = { problems: read.problems };
      document.getElementById(fieldId(read.problems[0]?.name ?? ""))?.focus();
      return;
    }
    const { signal } = asking.current = new AbortController();
    isCalling.value = true;
    state.value = {};
    const call = { server, tool, arguments: read.args, confirmed: isConfirmed };
    const answer = await askToTry(call, signal);
    isCalling.value = false;
    if (!signal.aborted) state.value = answer;
  };

  if (isOff) {
    return (
      <p class="muted">It is switched off: select it under Configure tools of its server first.</p>
    );
  }
  return (
    <div class="try">
      <form
        class="form form-wide"
        method="post"
        action={toolPath(server, tool)}
        f-client-nav={false}
        onSubmit={(event) => {
          event.preventDefault();
          const by = event.submitter instanceof HTMLButtonElement ? event.submitter.value : "";
          if (!isCalling.value) void submit(event.currentTarget, by === "confirmed");
        }}
      >
        {form.fields.map((field) => (
          <TryField
            key={field.name}
            field={field}
            value={words.values[field.name] ?? ""}
            problem={problemOf(field.name)}
          />
        ))}
        {form.fields.length === 0 && !form.isJsonOnly
          ? <p class="muted">It takes no arguments.</p>
          : <Json isOnly={form.isJsonOnly} value={words.json} problem={problemOf("")} />}
        <div class="form-actions">
          {form.risk !== undefined
            ? (
              <>
                {/* The form's default button, or Enter in a field would press the one that confirms. */}
                <button type="submit" disabled hidden />
                <button type="button" class="button button-primary" popovertarget="try-confirm">
                  Call tool
                </button>
                <div
                  ref={confirm}
                  id="try-confirm"
                  class="confirm"
                  popover="auto"
                  role="dialog"
                  aria-labelledby="try-confirm-title"
                >
                  <h2 id="try-confirm-title">
                    Call <InertText text={tool} />?
                  </h2>
                  <p class="confirm-text">
                    {RISKS[form.risk](server)} The call is real.
                  </p>
                  <div class="confirm-actions">
                    <button
                      type="submit"
                      class={form.risk === "destroys"
                        ? "button button-danger"
                        : "button button-primary"}
                      name="try"
                      value="confirmed"
                    >
                      Call it
                    </button>
                    <button
                      type="button"
                      class="button"
                      popovertarget="try-confirm"
                      popovertargetaction="hide"
                      autofocus
                    >
                      Cancel
                    </button>
                  </div>
                </div>
              </>
            )
            : (
              <button
                type="submit"
                class="button button-primary"
                name="try"
                value="plain"
                aria-busy={isCalling.value}
              >
                Call tool
              </button>
            )}
          {isCalling.value && (
            <>
              <span class="try-calling" role="status">Calling {server}…</span>
              <button
                type="button"
                class="button"
                onClick={() => {
                  asking.current?.abort();
                  isCalling.value = false;
                }}
              >
                Cancel
              </button>
            </>
          )}
        </div>
      </form>
      {error === undefined ? null : <FormFailure error={error} />}
      {outcome === undefined ? null : <TryResult outcome={outcome} />}
    </div>
  );
}

interface JsonProps {
  isOnly: boolean;
  value: string;
  problem: string | undefined;
}

function Json({ isOnly, value, problem }: JsonProps) {
  const field = (
    <div class="field">
      <label for="arg:">{isOnly ? "Arguments as JSON" : "All arguments as JSON"}</label>
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
      <p class="hint" id="arg:-hint">
        {problem === undefined
          ? null
          : <strong class="try-problem" role="alert">{problem}.</strong>}
        {isOnly ? "Its schema does not say enough for fields." : "In place of the fields above."}
      </p>
    </div>
  );
  if (isOnly) return field;
  return (
    <details class="edit-words" open={value !== "" || problem !== undefined}>
      <summary>Write them as JSON instead</summary>
      {field}
    </details>
  );
}
