import type { FoundServer } from "../lib/console/ui/found_servers.ts";
import { serverStep } from "../lib/console/ui/paths.ts";
import { FormFailure } from "./form_failure.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";

interface FoundServerRowProps {
  server: FoundServer;
  isBusy?: boolean;
  onChoose?(isChosen: boolean): void;
}

/** One of several servers that were pasted, with how it fared. */
export function FoundServerRow({ server, isBusy = false, onChoose }: FoundServerRowProps) {
  const { name, line, problem, notes, isChosen, outcome } = server;
  const isDone = outcome?.ok === true;
  return (
    <li class="row found-server">
      <label class="found-head">
        <input
          type="checkbox"
          name="server"
          value={name}
          checked={isChosen}
          disabled={problem !== undefined || isDone || isBusy}
          onChange={(event) => onChoose?.(event.currentTarget.checked)}
        />
        <span class="found-text">
          <span class="mono strong">
            <InertText text={name} />
          </span>
          <span class="mono small muted break">
            <InertText text={line} />
          </span>
        </span>
        <span class="found-state" role="status">
          {isBusy
            ? (
              <span class="state tone-info">
                <Icon name="pending" size={14} />Connecting…
              </span>
            )
            : isDone
            ? (
              <span class="state tone-ok">
                <Icon name="ready" size={14} />
                {outcome.text}
              </span>
            )
            : null}
        </span>
      </label>
      {isDone && <a class="found-more" href={serverStep(name, "tools")}>Configure tools</a>}
      {problem === undefined ? null : (
        <p class="found-more small tone-warn">
          <InertText text={problem} />
        </p>
      )}
      {notes.map((note) => (
        <p key={note} class="found-more small muted">
          <InertText text={note} />
        </p>
      ))}
      {outcome?.ok === false && (
        <div class="found-more">
          <FormFailure error={outcome.error} />
        </div>
      )}
    </li>
  );
}
