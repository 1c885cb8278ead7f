const TABS = [
  ["/security", "Overview"],
  ["/security/tokens", "Tokens"],
  ["/security/projects", "Projects"],
  ["/security/review", "Review"],
  ["/security/consents", "Consents"],
  ["/security/approvals", "Approvals"],
  ["/security/secrets", "Secrets"],
  ["/security/audit", "Audit log"],
] as const;

/** The way between the pages about security. */
export function SecurityTabs({ current }: { current: string }) {
  return (
    <nav class="filters" aria-label="Security">
      {TABS.map(([href, label]) => (
        <a
          key={href}
          class="filter-chip"
          href={href}
          aria-current={href === current ? "true" : "false"}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}
