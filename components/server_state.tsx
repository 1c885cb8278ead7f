import { formatCount } from "../lib/console/ui/format.ts";
import { serverPath } from "../lib/console/ui/pages.ts";
import { isStarting, type ServerState, type ServerStatus } from "../lib/core/server.ts";
import { StateLabel, type Tone } from "./badges.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { InertText } from "./text.tsx";

const STATES: Record<ServerState, { word: string; icon: IconName; tone: Tone }> = {
  starting: { word: "Starting", icon: "pending", tone: "info" },
  installing: { word: "Installing", icon: "pending", tone: "info" },
  ready: { word: "Ready", icon: "ready", tone: "ok" },
  degraded: { word: "Degraded", icon: "alert", tone: "warn" },
  failed: { word: "Failed", icon: "error", tone: "bad" },
  disabled: { word: "Disabled", icon: "paused", tone: "quiet" },
  paused: { word: "Paused", icon: "paused", tone: "quiet" },
  needs_login: { word: "Needs login", icon: "lock", tone: "warn" },
  not_running: { word: "Not running", icon: "paused", tone: "quiet" },
};

export function stateLook(state: ServerState) {
  return STATES[state];
}

export function stateWord(state: ServerState): string {
  return STATES[state].word;
}

export function StateBadge({ state }: { state: ServerState }) {
  const { word, ...look } = STATES[state];
  return <StateLabel {...look}>{word}</StateLabel>;
}

/** Only the icon, where the word is close by or there is no room; its word is read aloud. */
export function StateIcon({ state }: { state: ServerState }) {
  const { word, icon, tone } = STATES[state];
  return (
    <span class={`state tone-${tone}`} title={word}>
      <Icon name={icon} size={14} label={word} />
    </span>
  );
}

const MOST_NAMED = 5;

export function StartingNotice({ servers }: { servers: readonly ServerStatus[] }) {
  const starting = servers.filter(({ state }) => isStarting(state));
  if (starting.length === 0) return null;
  const more = starting.length - MOST_NAMED;
  return (
    <div class="notice" role="status">
      <Icon name="pending" size={14} />
      <div>
        {formatCount(starting.length, "server is", "servers are")} still starting.{" "}
        {starting.some(({ toolCount }) => toolCount > 0)
          ? "Tools known from the last run are already listed; the rest will follow."
          : starting.length === 1
          ? "Its tools appear as soon as it is ready."
          : "Their tools appear as soon as they are ready."}
        <ul>
          {starting.slice(0, MOST_NAMED).map(({ name, reason }) => (
            <li key={name}>
              <a class="mono" href={serverPath(name)}>
                <InertText text={name} />
              </a>
              : <InertText text={reason} />
            </li>
          ))}
          {more > 0 && <li>and {more} more</li>}
        </ul>
      </div>
    </div>
  );
}
