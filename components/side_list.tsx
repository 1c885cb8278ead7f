import type { ComponentChildren } from "preact";
import { InertText } from "./inert_text.tsx";

interface SideListProps {
  title: string;
  /** How many there are in all; the list shows those around the current one. */
  total: number;
  allHref: string;
  entries: { name: string; href: string; icon?: ComponentChildren }[];
  current: string;
}

/** The list a detail was opened from, beside it on a wide screen. */
export function SideList({ title, total, allHref, entries, current }: SideListProps) {
  return (
    <nav class="side-list" aria-label={title}>
      <header class="side-head">
        <h2>{title}</h2>
        <a href={allHref} aria-current="false">
          {total > entries.length ? `All ${total}` : "All"}
        </a>
      </header>
      <ul>
        {entries.map(({ name, href, icon }) => (
          <li key={name} data-row {...(name === current ? { "data-current-row": "" } : {})}>
            <a class="side-link mono" href={href} data-row-link>
              {icon}
              <span class="cut">
                <InertText text={name} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
