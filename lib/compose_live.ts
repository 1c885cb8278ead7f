import type { Catalog } from "./catalog/catalog.ts";
import { CallEvents } from "./http/call_events.ts";
import type { EventHub } from "./http/event_hub.ts";
import { ChangeNotifier } from "./sessions/change_notifier.ts";
import type { ActivityLog } from "./telemetry/activity_log.ts";
import type { Toolsets } from "./toolsets/toolsets.ts";

export interface ComposeLiveInput {
  stack: AsyncDisposableStack;
  events: EventHub;
  catalog: Catalog;
  toolsets: Toolsets;
  activity: ActivityLog;
  /** The counts that every page shows are others. */
  announce(): void;
}

/** Tells open pages of what changes besides servers, no more often than a person can follow. */
export function composeLive(input: ComposeLiveInput) {
  const { stack, events, catalog, toolsets, activity, announce } = input;
  const paced = stack.use(new ChangeNotifier((kind) => events.publish(kind, {})));
  const tell = (
    kind: "calls" | "optimization" | "sessions" | "settings" | "tools" | "toolsets",
  ) => paced.changed(kind);
  stack.defer(toolsets.onChange(() => {
    announce();
    tell("toolsets");
  }));
  // A server's list, what of it is on, and which descriptions are promoted.
  stack.defer(catalog.onChange(() => tell("tools")));
  stack.defer(activity.onEntry(() => {
    if (events.listenerCount > 0) tell("calls");
  }));
  stack.use(new CallEvents(events, activity));
  const lines = stack.use(new ChangeNotifier((server) => events.tell("logs", { server })));
  return {
    tell,
    /** A server has written to its error output. */
    wrote(server: string): void {
      if (events.listenerCount > 0) lines.changed(server);
    },
  };
}
