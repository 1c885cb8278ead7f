import { HiddenFields } from "./hidden_fields.tsx";

export const REVIEW_PATH = "/security/review";

interface ButtonProps {
  label: string;
  /** What it is about, read aloud after the label. */
  subject: string;
  fields: Record<string, string>;
}

/** One click that needs no question: it loosens nothing. */
export function Button({ label, subject, fields }: ButtonProps) {
  return (
    <form method="post" action={REVIEW_PATH} f-client-nav={false} data-busy={label}>
      <HiddenFields fields={fields} />
      <button type="submit" class="button">
        {label} <span class="visually-hidden">{subject}</span>
      </button>
    </form>
  );
}
