import type { SavedDay } from "../lib/console/saved_tokens.ts";
import { formatNumber } from "../lib/console/ui/format.ts";
import { Bar } from "./bar.tsx";
import { Card } from "./card.tsx";

/** What searching in place of listing everything has saved, day by day, on one scale. */
export function SavedDays({ days }: { days: SavedDay[] }) {
  const most = Math.max(...days.map(({ saved }) => saved), 1);
  return (
    <Card title="Saved by lazy loading" aside="tokens, an estimate" isFlush>
      <table class="table saved-table">
        <caption class="visually-hidden">Tokens saved per day</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col" class="number">Searches</th>
            <th scope="col" class="number">Saved</th>
            <th scope="col" class="number hide-small">Of all listed</th>
            <th scope="col" class="hide-small">
              <span class="visually-hidden">Against other days</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ day, searches, saved, baseline }) => (
            <tr key={day}>
              <td>
                <time dateTime={day}>{day}</time>
              </td>
              <td class="number">{formatNumber(searches)}</td>
              <td class="number">{formatNumber(saved)}</td>
              <td class="number hide-small">
                {baseline === 0 ? "–" : `${Math.round((saved / baseline) * 100)} %`}
              </td>
              <td class="hide-small">
                <Bar share={saved / most} width={160} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
