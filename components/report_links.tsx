const FORMATS = [
  { format: "json", label: "JSON", file: "json" },
  { format: "markdown", label: "Markdown", file: "md" },
  { format: "csv", label: "CSV", file: "csv" },
] as const;

/** The report of one server, or of all, as a file. */
export function ExportReport({ server }: { server?: string }) {
  const name = server === undefined ? "optimization" : `optimization-${server}`;
  return (
    <span class="report-links" role="group" aria-label="Export report">
      <span class="muted small" aria-hidden="true">Export report</span>
      {FORMATS.map(({ format, label, file }) => {
        const query = new URLSearchParams({ format, ...(server === undefined ? {} : { server }) });
        return (
          <a
            key={format}
            class="button"
            href={`/api/optimization/report?${query}`}
            f-client-nav={false}
            download={`${name}.${file}`}
          >
            {label}
          </a>
        );
      })}
    </span>
  );
}
