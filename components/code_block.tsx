import { CopyButton } from "./copy_button.tsx";

/** Text to be copied as it is. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <figure class="code">
      <CopyButton value={code} label={`Copy ${label}`} />
      <pre tabIndex={0} aria-label={label}><code>{code}</code></pre>
    </figure>
  );
}
