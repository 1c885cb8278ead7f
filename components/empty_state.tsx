import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface EmptyStateProps {
  icon: IconName;
  title: string;
  /** What will be here, and the step that fills it. */
  children: ComponentChildren;
  actions?: ComponentChildren;
}

/** Where there is nothing yet: what will be here and what to do now. */
export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={20} />
      </span>
      <h2>{title}</h2>
      <div class="empty-text">{children}</div>
      {actions === undefined ? null : <div class="empty-actions">{actions}</div>}
    </div>
  );
}
