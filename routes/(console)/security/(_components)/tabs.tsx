import { SECURITY_PAGES } from "../../../../lib/console/ui/pages.ts";

export function SecurityTabs({ current }: { current: string }) {
  return (
    <nav class="filters" aria-label="Security">
      {SECURITY_PAGES.map(({ path, label }) => (
        <a
          key={path}
          class="filter-chip"
          href={path}
          aria-current={path === current ? "true" : "false"}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}
