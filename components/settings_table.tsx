import type { SettingRow } from "../lib/console/settings_page.ts";

/** Every option as it is in effect, and the three places that can set it. */
export function SettingsTable({ rows }: { rows: SettingRow[] }) {
  return (
    <table class="table settings-table is-text">
      <caption class="visually-hidden">Options</caption>
      <thead>
        <tr>
          <th scope="col" class="col-option">Option</th>
          <th scope="col" class="col-value">Value</th>
          <th scope="col" class="col-origin hide-small">Set by</th>
          <th scope="col" class="hide-medium">Environment and settings file</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <td>
              <span class="mono strong">{row.flag}</span>
              <p class="muted">{row.meaning}</p>
            </td>
            <td>
              {row.value === undefined
                ? <span class="muted">Not set</span>
                : <span class="mono place">{row.value}</span>}
              {row.origin === "default" ? null : (
                <p class="small muted">
                  default: {row.fallback}
                </p>
              )}
              <p class="only-small">
                <Origin origin={row.origin} />
              </p>
            </td>
            <td class="hide-small">
              <Origin origin={row.origin} />
            </td>
            <td class="hide-medium">
              <p class="mono small place">{row.variable}</p>
              <p class="mono small muted">"{row.settingsKey}"</p>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Origin({ origin }: { origin: string }) {
  return <span class={origin === "default" ? "badge" : "badge tone-accent"}>{origin}</span>;
}
