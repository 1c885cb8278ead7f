import type { TrialUnit } from "../catalog/served_texts.ts";
import type { Options } from "../config/option_table.ts";
import { GatewayError } from "../core/errors.ts";
import type { GoldenPrompt } from "../core/optimization.ts";
import { type PromptProposal, proposalsFrom } from "../optimizer/traffic.ts";
import type { ActivityRecord } from "../storage/activity_repository.ts";
import {
  type CallMark,
  CallMarksRepository,
  ProposalDecisionsRepository,
} from "../storage/traffic_repository.ts";
import type { Store } from "../storage/store.ts";
import type { ActivityReader } from "../telemetry/activity_reader.ts";
import { plainText } from "./optimization/prompts.ts";
import type { WrittenPrompt } from "./optimization/schemas.ts";
import type { OptimizationAdmin } from "./optimization_admin.ts";

/** So many calls are looked at: older ones say little about today. */
const MOST_CALLS = 20_000;
const MOST_PROPOSALS = 500;

interface TrafficOptions {
  store: Store;
  options: Pick<Options, "learnPrompts">;
  calls: Pick<ActivityReader, "calls" | "find">;
  redactor: { text(text: string): string };
  optimization(): Promise<OptimizationAdmin>;
  /** A call in a live A/B was made with the wrong tool. */
  onMarked(unit: TrialUnit): void;
  onChanged(): void;
}

/** What is to become of a proposal, as somebody edited it. */
export interface AcceptedProposal {
  key: string;
  prompt?: string | undefined;
  category?: GoldenPrompt["category"] | undefined;
  server?: string | undefined;
  tool?: string | undefined;
  expectedTool?: string | undefined;
}

/** Golden prompts proposed from recorded searches and calls, and marks of wrong tools. */
export class TrafficAdmin {
  readonly #options: TrafficOptions;
  readonly #marks: CallMarksRepository;
  readonly #decisions: ProposalDecisionsRepository;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#marks = new CallMarksRepository(options.store);
    this.#decisions = new ProposalDecisionsRepository(options.store);
  }

  get enabled(): boolean {
    return this.#options.options.learnPrompts;
  }

  /** By the call's id, or the newest call of a tool that the caller made. */
  async mark(
    { id, tool, rightTool }: {
      id?: string | undefined;
      tool?: string | undefined;
      rightTool?: string | undefined;
    },
    { principal, by }: { principal: string; by: CallMark["by"] },
  ): Promise<CallMark> {
    const call = await this.#resolveCall(id, tool, principal);
    const mark: CallMark = {
      callId: call.id,
      at: Date.now(),
      server: call.server,
      tool: call.tool,
      ...(rightTool === undefined ? {} : { rightTool: await this.#fullName(rightTool) }),
      by,
    };
    await this.#marks.save(mark);
    if (call.trial) this.#options.onMarked(call.trial);
    this.#options.onChanged();
    return mark;
  }

  async marks(): Promise<Map<string, CallMark>> {
    return new Map((await this.#marks.values()).map((mark) => [mark.callId, mark]));
  }

  /** Newest first; without those that were decided on, or are saved already. */
  async proposals(): Promise<PromptProposal[]> {
    if (!this.enabled) return [];
    const records: ActivityRecord[] = [];
    for await (const call of this.#options.calls.calls()) {
      if (records.push(call) >= MOST_CALLS) break;
    }
    const decided = new Set((await this.#decisions.values()).map(({ key }) => key));
    const { redactor } = this.#options;
    const found = proposalsFrom(records, await this.marks())
      .filter(({ key }) => !decided.has(key))
      .map((one) => ({ ...one, prompt: redactor.text(one.prompt) }));
    const saved = await (await this.#options.optimization()).savedPrompts();
    return found.filter(({ server, tool, prompt }) =>
      !saved.get(`${server}.${tool}`)?.has(plainText(prompt))
    ).slice(0, MOST_PROPOSALS);
  }

  /** Saves proposals as golden prompts, all of them or none. */
  async accept(accepted: readonly AcceptedProposal[]): Promise<GoldenPrompt[]> {
    const admin = await this.#options.optimization();
    const known = new Map((await this.#demand()).map((one) => [one.key, one]));
    const drafts = accepted.map((edit) => {
      const proposal = known.get(edit.key);
      if (!proposal) throw noProposal(edit.key);
      return { proposal, ...draftOf(proposal, edit) };
    });
    const saved: GoldenPrompt[] = [];
    for (
      const [, own] of Map.groupBy(drafts, ({ server, tool }) => JSON.stringify([server, tool]))
    ) {
      const { server, tool } = own[0]!;
      const prompts = own.map(({ prompt }) => prompt);
      saved.push(
        ...(await admin.prompts.save({ server, tool, prompts, mode: "merge" }, "person")).prompts,
      );
      await this.#decide(own.map(({ proposal }) => proposal.key), "accepted");
    }
    return saved;
  }

  async discard(keys: readonly string[]): Promise<number> {
    const known = new Set((await this.#demand()).map(({ key }) => key));
    const missing = keys.find((key) => !known.has(key));
    if (missing !== undefined) throw noProposal(missing);
    await this.#decide(keys, "discarded");
    return keys.length;
  }

  /** Has a model write what a user may have said, from a call's arguments without secrets. */
  async write(key: string, signal: AbortSignal): Promise<string> {
    const proposal = (await this.#demand()).find((one) => one.key === key);
    if (!proposal) throw noProposal(key);
    const args = (await this.#options.calls.find(proposal.callId))?.view?.request.arguments;
    if (!args) {
      throw new GatewayError("NOT_FOUND", {
        message: "The arguments of this call are no longer known",
        recoveryAction: "Write the prompt yourself, or discard the proposal",
      });
    }
    const { server, tool } = proposal;
    const admin = await this.#options.optimization();
    const text = await admin.promptFromArguments({ server, tool }, args, signal);
    return this.#options.redactor.text(text);
  }

  async #decide(keys: readonly string[], decision: "accepted" | "discarded"): Promise<void> {
    for (const key of keys) await this.#decisions.save({ key, at: Date.now(), decision });
    this.#options.onChanged();
  }

  async #demand(): Promise<PromptProposal[]> {
    if (this.enabled) return await this.proposals();
    throw new GatewayError("ACCESS_DENIED", {
      message: "Prompts from traffic are off: searches and calls are only used with your consent",
      recoverySteps: ["Start the gateway with --learn-prompts, or switch it on in the settings"],
    });
  }

  async #resolveCall(
    id: string | undefined,
    tool: string | undefined,
    principal: string,
  ): Promise<ActivityRecord> {
    if (id !== undefined) {
      const found = await this.#options.calls.find(id);
      if (found && !found.call.search) return found.call;
    } else if (tool !== undefined) {
      const admin = await this.#options.optimization();
      const named = admin.locate({ tool });
      for await (const call of this.#options.calls.calls(named)) {
        if (call.principal === principal) return call;
      }
    }
    throw new GatewayError("NOT_FOUND", {
      message: id === undefined && tool === undefined
        ? "Name a call by its id, or a tool that you called"
        : "There is no such call on record",
      recoveryAction: "Use the id of a recorded call, or the name of a tool that you have called",
    });
  }

  async #fullName(name: string): Promise<string> {
    const { server, tool } = (await this.#options.optimization()).locate({ tool: name });
    return `${server}.${tool}`;
  }
}

function draftOf(
  proposal: PromptProposal,
  edit: AcceptedProposal,
): { server: string; tool: string; prompt: WrittenPrompt } {
  const { server = proposal.server, tool = proposal.tool } = edit;
  const { category = proposal.category, prompt = proposal.prompt } = edit;
  const expectedTool = edit.expectedTool ?? proposal.expectedTool;
  const named = category === "negative" && expectedTool ? { expectedTool } : {};
  return { server, tool, prompt: { category, prompt, expectedBehavior: named } };
}

function noProposal(key: string): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: `There is no proposal "${key}": it may have been decided on`,
    next: [{ label: "See what is proposed", operation: "traffic.list" }],
  });
}
