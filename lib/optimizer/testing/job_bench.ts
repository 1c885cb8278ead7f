import {
  CATEGORIES,
  type GoldenPrompt,
  newId,
  type OptimizationJob,
  type ToolCandidate,
} from "../../core/optimization.ts";
import {
  CandidatesRepository,
  EvalRunsRepository,
  EvaluationsRepository,
  GoldenPromptsRepository,
} from "../../storage/optimization_repositories.ts";
import { JobsRepository } from "../../storage/jobs_repository.ts";
import { PromotionsRepository } from "../../storage/promotions_repository.ts";
import { Store } from "../../storage/store.ts";
import { OptimizationJobs } from "../jobs/queue.ts";
import { type JobsOptions } from "../jobs/run.ts";
import { newCandidate } from "../generation/candidates.ts";
import { Promotions } from "../promotions.ts";
import type { TextAnswer, TextModel, TextRequest } from "../generation/text_model.ts";
import { ScriptedEvaluator } from "./scripted_evaluator.ts";
import { byDescription, GOOD, somePrompts, WeatherSubjects } from "./weather.ts";

/** A store with what optimization keeps in it, and gateways that work on it. */
export class JobBench implements AsyncDisposable {
  readonly store: Store;
  readonly candidates: CandidatesRepository;
  readonly prompts: GoldenPromptsRepository;
  readonly runs: EvalRunsRepository;
  readonly evaluations: EvaluationsRepository;
  readonly jobs: JobsRepository;
  readonly promotions: Promotions;
  readonly targets = new WeatherSubjects();
  readonly events: OptimizationJob[] = [];
  readonly warnings: string[] = [];
  /** Gateways that run. */
  readonly alive = new Set<string>();
  isEnabled = true;
  readonly #gateways: OptimizationJobs[] = [];

  private constructor(store: Store) {
    this.store = store;
    this.candidates = new CandidatesRepository(store);
    this.prompts = new GoldenPromptsRepository(store);
    this.runs = new EvalRunsRepository(store);
    this.evaluations = new EvaluationsRepository(store);
    this.jobs = new JobsRepository(store);
    this.promotions = new Promotions({
      repository: new PromotionsRepository(store),
      canonical: () => this.targets.canonical,
      parameters: () => this.targets.parameters,
      onChange: () => {},
    });
  }

  static async open(location = ":memory:"): Promise<JobBench> {
    return new JobBench(await Store.open({ location }));
  }

  /** Another gateway on the same store. */
  gateway(owner: string, more: Partial<JobsOptions> = {}): OptimizationJobs {
    this.alive.add(owner);
    const gateway = new OptimizationJobs({
      jobs: this.jobs,
      candidates: this.candidates,
      prompts: this.prompts,
      runs: this.runs,
      evaluations: this.evaluations,
      promotions: this.promotions,
      targets: this.targets,
      openDiscovery: () => {
        throw new Error("Nothing is found by search here");
      },
      evaluator: () => Promise.resolve(new ScriptedEvaluator(byDescription)),
      textModel: () => Promise.resolve(new WritingModel()),
      concurrency: 2,
      owner,
      isOwnerAlive: (id) => Promise.resolve(this.alive.has(id)),
      isEnabled: () => this.isEnabled,
      onChange: (job) => this.events.push(job),
      onWarning: (message) => this.warnings.push(message),
      signal: new AbortController().signal,
      retryDelayMs: 1,
      ...more,
    });
    this.#gateways.push(gateway);
    return gateway;
  }

  async savePrompts(each = 5, more: Partial<GoldenPrompt> = {}): Promise<void> {
    await this.prompts.save(somePrompts(each, more));
  }

  async saveCandidate(
    id: string,
    description = GOOD,
    toolName = "get_forecast",
    more: Partial<ToolCandidate> = {},
  ): Promise<void> {
    const text = { server: "weather", toolName, description, origin: "caller" } as const;
    await this.candidates.save({ ...newCandidate(text), id, ...more });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const gateway of this.#gateways) await gateway[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

/** Writes whatever it is asked for, and keeps what it was asked. */
export class WritingModel implements TextModel {
  readonly kind = "messages-api";
  readonly requests: TextRequest[] = [];

  complete(request: TextRequest): Promise<TextAnswer> {
    this.requests.push(request);
    const answer = request.system.includes('{"candidates"')
      ? { candidates: someDescriptions() }
      : { prompts: CATEGORIES.flatMap((category) => someTexts(category, aboutOf(request))) };
    return Promise.resolve({
      text: JSON.stringify(answer),
      cost: { inputTokens: 100, outputTokens: 50, costUsd: 0.5 },
    });
  }
}

function someDescriptions() {
  return Array.from({ length: 10 }, (_, index) => ({
    description: `${index === 0 ? "GOOD" : "Other"}: text ${newId("text").slice(-8)}`,
  }));
}

const SUBJECTS = [
  "Rome Monday raincoat",
  "Paris harvest frost",
  "Oslo skiing snowfall",
  "Cairo desert heat",
  "Tokyo typhoon season",
  "Lima coastal fog",
  "Berlin cycling wind",
  "Sydney beach sunshine",
  "Quito hiking thunder",
  "Delhi monsoon flood",
  "Boston marathon humidity",
  "Nairobi safari clouds",
  "Dublin picnic drizzle",
];

const PLACES = [
  "at the castle bridge",
  "behind grandfather's farmhouse",
  "near northern lighthouse cliffs",
  "during quarterly budget meetings",
];

/** Only the forecast is about the weather; the tool that texts are asked for is named first. */
function aboutOf({ prompt }: TextRequest): string {
  const [tool = ""] = /get_forecast|get_alerts|list_stations/.exec(prompt) ?? [];
  return tool === "get_forecast" ? "weather" : tool;
}

/** Far enough from each other to pass for different ones. */
export function someTexts(category: string, about: string) {
  const verbs: Record<string, string> = {
    direct: `Tell me exactly about ${about}`,
    indirect: `Should somebody pack something given ${about === "weather" ? about : "it"}`,
    negative: "Cook dinner recipes inspired",
  };
  return SUBJECTS.flatMap((subject) =>
    PLACES.map((place) => ({ category, prompt: `${verbs[category]} ${subject} ${place}` }))
  );
}
