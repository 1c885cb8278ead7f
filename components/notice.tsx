import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

/** What has come of something; what is bad interrupts whoever listens. */
type Tone = "ok" | "warn" | "bad" | "info";

const ICONS: Record<Tone, IconName> = { ok: "ready", warn: "alert", bad: "error", info: "info" };

interface NoticeProps {
  tone: Tone;
  children: ComponentChildren;
}

/** One or two sentences above what they are about. */
export function Notice({ tone, children }: NoticeProps) {
  return (
    <div
      class={tone === "info" ? "notice" : `notice tone-${tone}`}
      role={tone === "bad" ? "alert" : "status"}
    >
      <Icon name={ICONS[tone]} size={14} />
      <div>{children}</div>
    </div>
  );
}
