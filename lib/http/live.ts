import type { Catalog } from "../catalog/catalog.ts";
import type { Toolsets } from "../catalog/toolsets/toolsets.ts";
import type { Bus } from "../core/bus.ts";
import { ChangeNotifier } from "../core/change_notifier.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import { ChangedJobs, JobsRepository } from "../storage/jobs_repository.ts";
import { followNews } from "../storage/follow.ts";
import type { News } from "../storage/keys.ts";
import type { Store } from "../storage/store.ts";
import { PeerCalls } from "../telemetry/peer_calls.ts";
import type { TelemetryModule } from "../telemetry/module.ts";
import { CallEvents, EventHub } from "./event_hub.ts";

/** What a page can show that changes without it. */
type LiveSubject =
  | "audit"
  | "calls"
  | "optimization"
  | "sessions"
  | "settings"
  | "tools"
  | "toolsets";

export type Live = ReturnType<typeof openLive>;

/**
 * The live channel to open pages, no faster than a person can follow. Built first: all modules
 * announce their changes here.
 */
export function openLive(describeJob: (job: OptimizationJob) => unknown) {
  const events = new EventHub();
  const subjects = new ChangeNotifier((subject) => events.publish(subject, {}));
  const output = new ChangeNotifier((server) => events.tell("logs", { server }));
  const showJob = (job: OptimizationJob) =>
    events.publish("optimization", describeJob(job), job.id);
  const ownJobs = new OwnJobs();
  return {
    events,
    ownJobs,
    /** Announces that this subject changed. */
    tell: (subject: LiveSubject) => subjects.changed(subject),
    /** A job of another gateway changed. */
    showJob,
    tellJob(job: OptimizationJob) {
      ownJobs.note(job);
      showJob(job);
    },
    /** A server wrote to its standard error. */
    tellOutput(server: string) {
      if (events.listenerCount > 0) output.changed(server);
    },
    [Symbol.dispose]() {
      subjects[Symbol.dispose]();
      output[Symbol.dispose]();
    },
  };
}

/** What this gateway's optimization jobs do, for the metrics. */
class OwnJobs {
  readonly #unfinished = new Map<string, Pick<OptimizationJob, "status"> & { runs: number }>();
  onRuns: (count: number) => void = () => {};

  get running(): number {
    return this.#unfinished.values().filter(({ status }) => status === "running").toArray().length;
  }

  note({ id, status, tools }: OptimizationJob): void {
    const runs = tools.reduce((total, { runsDone }) => total + runsDone, 0);
    // Of a job that goes on here, the runs so far were counted elsewhere.
    const before = this.#unfinished.get(id)?.runs ?? runs;
    if (runs > before) this.onRuns(runs - before);
    if (status === "running" || status === "paused") this.#unfinished.set(id, { status, runs });
    else this.#unfinished.delete(id);
  }
}

interface LiveSources {
  live: Live;
  store: Store;
  /** Tells this gateway's jobs from those of others. */
  lease: { id: string };
  catalog: Catalog;
  toolsets: Toolsets;
  bus: Bus;
  telemetry: Pick<TelemetryModule, "activity" | "callRecords" | "metrics" | "forgetPicks">;
}

/** Follows what changes here and in other gateways on the same store. */
export function followChanges(sources: LiveSources) {
  const { live, store, telemetry: { activity, callRecords, metrics, forgetPicks } } = sources;
  const { events, tell, showJob } = live;
  const stack = new AsyncDisposableStack();
  metrics.gauge("quartermaster_live_clients", () => events.listenerCount);
  metrics.gauge("quartermaster_jobs_running", () => live.ownJobs.running);
  const countRuns = metrics.counter("quartermaster_evaluation_runs_total");
  live.ownJobs.onRuns = (count) => countRuns(undefined, count);
  const { bus } = sources;
  bus.on("serverStatus", (status) => events.publish("server", status, status.name));
  bus.on("serverRemoved", (name) => events.publish("server", { name }, name));
  bus.on("toolsReviewed", () => tell("tools"));
  bus.on("toolMetadataChanged", () => tell("tools"));
  bus.on("rightsChanged", () => tell("settings"));
  bus.on("optimizationSwitched", () => tell("settings"));
  stack.defer(sources.toolsets.onChange(() => tell("toolsets")));
  // A server's list, which of its tools are enabled, and which descriptions are promoted.
  stack.defer(sources.catalog.onChange(() => tell("tools")));
  // Also without listeners: a page may have been rendered that is about to listen.
  stack.defer(activity.onEntry(() => tell("calls")));
  stack.use(new CallEvents(events, activity));
  /** For the pages of other gateways; ours hear at once, even if the store is in trouble. */
  const others = stack.use(
    new ChangeNotifier(() => {
      const sent = store.commit({ announce: false, news: "optimization" });
      sent.catch((error) => store.warn("Cannot notify other gateways of a change", { error }));
    }),
  );

  const changedJobs = new ChangedJobs(new JobsRepository(store), sources.lease.id);
  const callsElsewhere = new PeerCalls({ repository: callRecords, log: activity });
  const onNews: Record<News, (times: number) => Promise<void> | void> = {
    optimization: () => tell("optimization"),
    async jobs() {
      const { jobs, hasEarlier } = await changedJobs.look();
      jobs.forEach(showJob);
      if (hasEarlier) tell("optimization");
    },
    async calls(times) {
      for (const call of await callsElsewhere.look(times)) activity.hear(call);
    },
    cleared() {
      forgetPicks();
      events.tell("activity", { cleared: true });
    },
  };
  const closing = new AbortController();
  const following = followNews(store, {
    signal: closing.signal,
    whenWanted: (signal) => events.whenHeard(signal),
    onNews: (kind, times) => onNews[kind](times),
  });
  stack.defer(() => following);
  stack.defer(() => closing.abort());

  return {
    /** Candidates, prompts, reports or promotions were changed here. */
    optimizationChanged() {
      tell("optimization");
      others.changed("optimization");
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
