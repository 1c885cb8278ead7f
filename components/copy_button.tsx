import { Icon } from "./icon.tsx";

/** Copies a text whole; the copier island does the work for all of them. */
export function CopyButton({ value, label }: { value: string; label: string }) {
  return (
    <button type="button" class="copy needs-js" data-copy={value} aria-label={label} title={label}>
      <Icon name="copy" size={14} />
      <Icon name="check" size={14} />
    </button>
  );
}
