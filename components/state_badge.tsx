import type { ServerState } from "../lib/core/server.ts";
import { Icon, type IconName } from "./icon.tsx";

const STATES: Record<ServerState, { word: string; icon: IconName; tone: string }> = {
  connecting: { word: "Connecting", icon: "pending", tone: "info" },
  ready: { word: "Ready", icon: "ready", tone: "ok" },
  degraded: { word: "Degraded", icon: "alert", tone: "warn" },
  failed: { word: "Failed", icon: "error", tone: "bad" },
  disabled: { word: "Disabled", icon: "paused", tone: "quiet" },
  needs_login: { word: "Needs login", icon: "lock", tone: "warn" },
};

export function stateWord(state: ServerState): string {
  return STATES[state].word;
}

/** A server's state: always an icon and a word, never color alone. */
export function StateBadge({ state }: { state: ServerState }) {
  const { word, icon, tone } = STATES[state];
  return (
    <span class={`state tone-${tone}`}>
      <Icon name={icon} size={14} />
      {word}
    </span>
  );
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
