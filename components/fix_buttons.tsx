import type { Fix } from "../lib/console/attention.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { Confirm } from "./confirm.tsx";
import { HiddenFields } from "./hidden_fields.tsx";

interface FixButtonsProps {
  fixes: readonly Fix[];
  /** What it is about, read aloud after the verb. */
  subject: string;
  /** The page to come back to. */
  back: string;
}

const BUSY = "Working…";

/** The clicks that set something right; those with a price ask first. */
export function FixButtons({ fixes, subject: name, back }: FixButtonsProps) {
  if (fixes.length === 0) return null;
  const subject = inertString(name);
  return (
    <div class="fixes above">
      {fixes.map((fix) => {
        const fields = { ...fix.action, back };
        if (fix.warning !== undefined) {
          return (
            <Confirm
              key={fix.verb}
              id={`${fix.action.action}-${encodeURIComponent(subject)}`}
              label={fix.verb}
              subject={subject}
              title={`${fix.verb}: ${subject}?`}
              action="/actions"
              fields={fields}
              verb={fix.verb}
              busy={BUSY}
            >
              {fix.warning}
            </Confirm>
          );
        }
        return (
          <form
            key={fix.verb}
            method="post"
            action="/actions"
            f-client-nav={false}
            data-busy={BUSY}
          >
            <HiddenFields fields={fields} />
            <button type="submit" class="button">
              {fix.verb} <span class="visually-hidden">{subject}</span>
            </button>
          </form>
        );
      })}
    </div>
  );
}
