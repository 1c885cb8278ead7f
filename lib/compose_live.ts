import type { Catalog } from "./catalog/catalog.ts";
import { jobNews } from "./console/ui/job_news.ts";
import type { OptimizationJob } from "./core/optimization.ts";
import { CallEvents } from "./http/call_events.ts";
import type { EventHub } from "./http/event_hub.ts";
import { ChangeNotifier } from "./sessions/change_notifier.ts";
import type { ActivityRepository } from "./storage/activity_repository.ts";
import { ChangedJobs } from "./storage/changed_jobs.ts";
import { followNews } from "./storage/follow_news.ts";
import { JobsRepository } from "./storage/optimization_jobs_repository.ts";
import type { News, Store } from "./storage/store.ts";
import type { ActivityLog } from "./telemetry/activity_log.ts";
import { CallsElsewhere } from "./telemetry/calls_elsewhere.ts";
import type { Toolsets } from "./toolsets/toolsets.ts";

export interface ComposeLiveInput {
  stack: AsyncDisposableStack;
  store: Store;
  /** Tells our jobs from those of other gateways. */
  leaseId: string;
  events: EventHub;
  catalog: Catalog;
  toolsets: Toolsets;
  activity: ActivityLog;
  calls: ActivityRepository;
  /** The counts that every page shows are others. */
  announce(): void;
}

/** Tells open pages of what changes besides servers, no more often than a person can follow. */
export function composeLive(input: ComposeLiveInput) {
  const { stack, store, events, catalog, toolsets, activity, calls, announce } = input;
  const paced = stack.use(new ChangeNotifier((kind) => events.publish(kind, {})));
  const tell = (
    kind: "audit" | "calls" | "optimization" | "sessions" | "settings" | "tools" | "toolsets",
  ) => paced.changed(kind);
  const tellJob = (job: OptimizationJob) => events.publish("optimization", jobNews(job), job.id);
  stack.defer(toolsets.onChange(() => {
    announce();
    tell("toolsets");
  }));
  // A server's list, what of it is on, and which descriptions are promoted.
  stack.defer(catalog.onChange(() => tell("tools")));
  // Also while nobody listens: a page may have been made that is about to.
  stack.defer(activity.onEntry(() => tell("calls")));
  stack.use(new CallEvents(events, activity));
  const lines = stack.use(new ChangeNotifier((server) => events.tell("logs", { server })));
  /** For the pages of other gateways; ours are told at once, so that a store in trouble is no matter. */
  const news = stack.use(
    new ChangeNotifier(() => {
      const said = store.commit({ announce: false, news: "optimization" });
      said.catch((error) => store.warn("Cannot tell other gateways what has changed", { error }));
    }),
  );

  const changedJobs = new ChangedJobs(new JobsRepository(store), input.leaseId);
  const callsElsewhere = new CallsElsewhere({ repository: calls, log: activity });
  const takeUp: Record<News, (times: number) => Promise<void> | void> = {
    optimization: () => tell("optimization"),
    async jobs() {
      const { jobs, hasEarlier } = await changedJobs.look();
      jobs.forEach(tellJob);
      if (hasEarlier) tell("optimization");
    },
    async calls(times) {
      for (const call of await callsElsewhere.look(times)) activity.hear(call);
    },
    cleared: () => events.tell("activity", { cleared: true }),
  };
  const closing = new AbortController();
  const following = followNews(store, {
    signal: closing.signal,
    whenWanted: (signal) => events.whenHeard(signal),
    onNews: (kind, times) => takeUp[kind](times),
  });
  stack.defer(() => following);
  stack.defer(() => closing.abort());

  return {
    tell,
    tellJob,
    /** Candidates, prompts, reports or promotions were changed here. */
    changedOptimization(): void {
      tell("optimization");
      news.changed("optimization");
    },
    /** A server has written to its error output. */
    wrote(server: string): void {
      if (events.listenerCount > 0) lines.changed(server);
    },
  };
}
