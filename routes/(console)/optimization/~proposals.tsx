import { page } from "fresh";
import { Card, PageHeader } from "../../../components/layout.tsx";
import { FormFailure, PostForm, SelectOptions } from "../../../components/forms.tsx";
import { EmptyState, Notice } from "../../../components/states.tsx";
import { Table } from "../../../components/tables.tsx";
import { Ago, InertText } from "../../../components/text.tsx";
import { BusyForms } from "../../../islands/forms.tsx";
import { runFor } from "../../../lib/console/api.ts";
import { define, formOf } from "../../../lib/console/define.ts";
import { formError, submitForm } from "../../../lib/console/errors.ts";
import { callPath } from "../../../lib/console/ui/pages.ts";
import { CATEGORIES } from "../../../lib/core/optimization.ts";
import type { PromptProposal } from "../../../lib/optimizer/traffic.ts";
import { TRAFFIC_OPERATIONS } from "../../../lib/operations/traffic.ts";
import { editedProposals } from "./(_page)/proposals.ts";

const PATH = "/optimization/~proposals";

export const handler = define.handlers({ GET: ["read", "manage"], POST: ["manage", "optimize"] }, {
  async GET(ctx) {
    ctx.state.title = "Prompts from traffic";
    const { enabled, proposals } = await runFor(ctx, TRAFFIC_OPERATIONS.list, {});
    return page<Data>({ enabled, proposals, done: ctx.url.searchParams.get("done") ?? undefined });
  },

  async POST(ctx) {
    const form = await formOf(ctx);
    ctx.state.title = "Prompts from traffic";
    return await submitForm<Data>(ctx, async () => {
      const chosen = form.getAll("key");
      if (form.get("do") === "discard") {
        await runFor(ctx, TRAFFIC_OPERATIONS.discard, { keys: chosen });
        return `${PATH}?done=discarded`;
      }
      const write = form.get("write");
      if (write !== null) {
        const { prompt } = await runFor(ctx, TRAFFIC_OPERATIONS.write, { key: write });
        return `${PATH}?${new URLSearchParams({ done: "written", text: prompt })}`;
      }
      await runFor(ctx, TRAFFIC_OPERATIONS.accept, { proposals: editedProposals(form) });
      return `${PATH}?done=accepted`;
    }, async (error) => {
      const { enabled, proposals } = await runFor(ctx, TRAFFIC_OPERATIONS.list, {});
      return { enabled, proposals, problem: formError(error) };
    });
  },
});

interface Data {
  enabled: boolean;
  proposals: PromptProposal[];
  done?: string | undefined;
  problem?: ReturnType<typeof formError>;
}

const DONE: Record<string, string> = {
  accepted: "Saved as golden prompts.",
  discarded: "Discarded. They are not proposed again.",
  written: "The model wrote:",
};

const SOURCES: Record<PromptProposal["source"], string> = {
  search: "Search",
  missed: "Search without result",
  retry: "Another tool after a failure",
  refused: "Refused arguments",
  mark: "Wrong-tool mark",
};

/** Golden prompts that recorded searches and calls suggest, for a person to decide on. */
export default define.page<typeof handler>(function ProposalsPage({ data, url }) {
  const { enabled, proposals, done, problem } = data;
  return (
    <div class="stack" data-live="settings">
      <BusyForms />
      <PageHeader
        title="Prompts from traffic"
        lead="What models searched for and called, as golden prompts. Nothing is used before you accept it."
      />
      {problem !== undefined && <FormFailure title="Nothing was saved" error={problem} />}
      {done !== undefined && DONE[done] !== undefined && (
        <Notice tone="info" icon="ready">
          {DONE[done]}{" "}
          {done === "written" && <InertText text={url.searchParams.get("text") ?? ""} />}
        </Notice>
      )}
      {!enabled
        ? (
          <EmptyState
            icon="optimization"
            title="Off without your consent"
            actions={
              <PostForm
                action="/settings"
                fields={{ action: "set", option: "learnPrompts", value: "true" }}
              >
                <button type="submit" class="button button-primary">Allow it until restart</button>
              </PostForm>
            }
          >
            With your consent, searches and calls in the activity log are proposed as golden
            prompts. Secrets are removed, and nothing leaves the gateway. Start it with{" "}
            <code>--learn-prompts</code> to allow it permanently.
          </EmptyState>
        )
        : proposals.length === 0
        ? (
          <EmptyState icon="optimization" title="Nothing is proposed">
            Searches that lead to a call, searches without a result, failures and wrong-tool marks
            appear here.
          </EmptyState>
        )
        : <Proposals proposals={proposals} />}
    </div>
  );
});

function Proposals({ proposals }: { proposals: readonly PromptProposal[] }) {
  return (
    <PostForm action={PATH} busy="Saving…">
      <Card isFlush>
        <Table
          caption="Proposed prompts, newest first"
          columns={["", "Prompt", "Tool", "Label", ["Why", "hide-small"]]}
        >
          {proposals.map((one) => <ProposalRow key={one.key} proposal={one} />)}
        </Table>
      </Card>
      <div class="toolbar">
        <button type="submit" class="button button-primary" name="do" value="accept">
          Accept selected
        </button>
        <button type="submit" class="button" name="do" value="discard">Discard selected</button>
      </div>
    </PostForm>
  );
}

function ProposalRow({ proposal }: { proposal: PromptProposal }) {
  const { key, server, tool, category, prompt, expectedTool, source, reason, at, count } = proposal;
  return (
    <tr>
      <td>
        <input type="checkbox" name="key" value={key} aria-label={`Select ${prompt || tool}`} />
      </td>
      <td>
        <input
          class="input"
          name={`prompt-${key}`}
          value={prompt}
          aria-label="Prompt"
          placeholder="What did the user want?"
        />
        {prompt === "" && (
          <button type="submit" class="link-button small" name="write" value={key}>
            Have a model write it from the arguments
          </button>
        )}
      </td>
      <td>
        <input
          class="input mono"
          name={`tool-${key}`}
          value={`${server}.${tool}`}
          aria-label="Tool"
        />
      </td>
      <td>
        <select class="select" name={`category-${key}`} aria-label="Category">
          <SelectOptions choices={CATEGORIES.map((each) => [each, each])} value={category} />
        </select>
        <input
          class="input mono"
          name={`expected-${key}`}
          value={expectedTool ?? ""}
          aria-label="Tool to call instead"
          placeholder="tool to call instead"
        />
      </td>
      <td class="hide-small">
        <span class="small">{SOURCES[source]}{count > 1 && `, ${count} times`}</span>
        <br />
        <a class="muted small" href={callPath(proposal.callId)}>
          <InertText text={reason} />, <Ago at={at} />
        </a>
      </td>
    </tr>
  );
}
