import type { ComponentChildren } from "preact";
import type { ToolPromotion as Promotion } from "../lib/console/tool_promotion.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { optimizationPath } from "../lib/console/ui/paths.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { WordDiff } from "./word_diff.tsx";

interface ToolPromotionProps {
  server: string;
  tool: string;
  promotion: Promotion;
  /** What stands beside the heading. */
  aside: ComponentChildren;
}

/** The server's own description beside the one that clients read. */
export function ToolPromotion({ server, tool, promotion, aside }: ToolPromotionProps) {
  const { canonical, promoted, promotedAt, by, isStale } = promotion;
  return (
    <Card title="Description" aside={aside}>
      {isStale && (
        <p class="notice tone-warn">
          <Icon name="alert" size={14} />
          <span>
            The server has changed its own description since. Look at whether the promoted one still
            fits.
          </span>
        </p>
      )}
      <div class="described">
        <section>
          <h3>
            The server's own <span>{formatCount(canonical.length, "character")}</span>
          </h3>
          {canonical === "" ? <p class="muted">The server gives none.</p> : (
            <p class="prose">
              <InertText text={canonical} />
            </p>
          )}
        </section>
        <section>
          <h3>
            <span class="badge tone-ok">Promoted</span> What clients read{" "}
            <span>{formatCount(promoted.length, "character")}</span>
          </h3>
          <p class="prose">
            <InertText text={promoted} />
          </p>
        </section>
      </div>
      <details class="edit-words">
        <summary>What differs, word by word</summary>
        <WordDiff segments={promotion.diff} />
      </details>
      <p class="described-foot">
        <span class="muted">
          Promoted by {by} <Ago at={promotedAt} />
        </span>
        <a href={optimizationPath(server, tool)}>Results, history and revert</a>
      </p>
    </Card>
  );
}
