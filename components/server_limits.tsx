import { type LimitWords, NO_LIMITS } from "../lib/console/server_limits.ts";
import { Field } from "./field.tsx";

type Options = readonly (readonly [value: string, label: string])[];

const MODES: Options = [
  ["", "All"],
  ["confirm", "Those that may change or delete things only after a yes"],
  ["read-only", "Those that only read"],
];
const TRUST: Options = [["", "Trusted"], ["untrusted", "Not trusted"]];
const CHANGES: Options = [
  ["", "By trust: held where it is not trusted, else passed on and shown"],
  ["hold", "Held until approved"],
  ["notify", "Passed on, and shown under Review"],
  ["allow", "Passed on without a word"],
];

/** What may be called of a server and how much, and what becomes of what it changes. */
export function ServerLimits({ words = NO_LIMITS }: { words?: LimitWords | undefined }) {
  return (
    <details class="edit-words" open={Object.values(words).some((word) => word !== "")}>
      <summary>Limits</summary>
      <div class="form">
        <Choice
          id="mode"
          label="Calls that are let through"
          hint="What a tool does is taken from its annotations."
          options={MODES}
          value={words.mode}
        />
        <Count id="callsPerMinute" label="Calls a minute" value={words.callsPerMinute} />
        <Count id="maxConcurrent" label="Calls at once" value={words.maxConcurrent} />
        <Count
          id="maxResultTokens"
          label="Tokens of a result"
          hint="A longer one is cut, and the rest is read page by page. Empty for no limit."
          value={words.maxResultTokens}
        />
        <Choice
          id="trust"
          label="Trust"
          hint="Whether you vouch for what it says of its tools."
          options={TRUST}
          value={words.trust}
        />
        <Choice
          id="changes"
          label="Changes of its tools"
          hint="What becomes of a tool that the server describes in another way than before."
          options={CHANGES}
          value={words.changes}
        />
      </div>
    </details>
  );
}

interface ChoiceProps {
  id: keyof LimitWords;
  label: string;
  hint: string;
  options: Options;
  value: string;
}

function Choice({ id, label, hint, options, value }: ChoiceProps) {
  return (
    <Field id={id} label={label} hint={hint}>
      <select id={id} class="select" name={id} aria-describedby={`${id}-hint`}>
        {options.map(([option, words]) => (
          <option key={option} value={option} selected={option === value}>{words}</option>
        ))}
      </select>
    </Field>
  );
}

interface CountProps {
  id: keyof LimitWords;
  label: string;
  hint?: string;
  value: string;
}

function Count(
  { id, label, value, hint = "By all callers together; empty for no limit." }: CountProps,
) {
  return (
    <Field id={id} label={label} hint={hint}>
      <input
        id={id}
        class="input"
        name={id}
        inputMode="numeric"
        autocomplete="off"
        value={value}
        aria-describedby={`${id}-hint`}
      />
    </Field>
  );
}
