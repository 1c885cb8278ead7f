import { CopyButton, Exactly, InertText } from "../../../../components/text.tsx";
import { Bar, TokensChip } from "../../../../components/badges.tsx";
import { Card, Fact, Facts } from "../../../../components/layout.tsx";
import { HiddenFields, PostForm } from "../../../../components/forms.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { Notice } from "../../../../components/states.tsx";
import { Table } from "../../../../components/tables.tsx";
import {
  endpointName,
  formatCount,
  formatDuration,
  formatNumber,
  formatSizes,
  inertString,
} from "../../../../lib/console/ui/format.ts";
import { callPath, serverPath, toolPath } from "../../../../lib/console/ui/pages.ts";
import type { CallPage, CallTurn } from "../(_page)/model.ts";
import { CallStatus } from "./call_rows.tsx";

export function CallArticle({ page, query }: { page: CallPage; query: Record<string, string> }) {
  const { call } = page;
  const search = new URLSearchParams(query).toString();
  return (
    <article class="detail activity-detail" aria-labelledby="call-title">
      <header class="call-head">
        <div>
          <h2 id="call-title" class={call.search ? undefined : "mono"}>
            <InertText
              text={call.search ? `“${call.search.query}”` : `${call.server}.${call.tool}`}
            />
          </h2>
          <CallStatus call={call} />
        </div>
        <a
          class="button"
          href={`/activity${search === "" ? "" : `?${search}`}`}
          aria-current="false"
        >
          <Icon name="close" size={14} />
          Close
        </a>
      </header>
      {call.error !== undefined && (
        <Notice tone="bad" role={null}>
          <InertText text={call.error} />
        </Notice>
      )}
      {call.search
        ? <SearchPath search={call.search} />
        : (
          <Card title="Timeline" aside={formatDuration(call.ms)}>
            <CallTimeline turns={page.timeline} />
          </Card>
        )}
      <Messages page={page} />
      {page.judge && <Judge judge={page.judge} id={call.id} />}
      <Card>
        <CallFacts page={page} />
      </Card>
    </article>
  );
}

/** The path of a search: what was asked, what was found, and what was called then. */
function SearchPath({ search }: { search: NonNullable<CallPage["call"]["search"]> }) {
  const { found, count, picks = [] } = search;
  const more = count - found.length;
  return (
    <Card
      title="Results"
      aside={<>{search.tokens !== undefined && <TokensChip tokens={search.tokens} />}</>}
      isFlush
    >
      {found.length === 0 ? <p class="card-lead muted">No tools were returned.</p> : (
        <Table
          caption="Tools found, best match first"
          class="found-table"
          columns={["Tool", ["Relevance", "number"], "Called"]}
        >
          {found.map(({ server, tool, relevance }) => {
            const pick = picks.find((pick) => pick.server === server && pick.tool === tool);
            return (
              <tr key={`${server}.${tool}`} {...(pick ? { "data-current-row": "" } : {})}>
                <td class="cut">
                  <a class="mono" href={toolPath(server, tool)}>
                    <InertText text={`${server}.${tool}`} />
                  </a>
                </td>
                <td class="number">
                  <Bar share={relevance} /> {relevance.toFixed(2)}
                </td>
                <td>
                  {pick && (
                    <a href={callPath(pick.id)} aria-current="false">
                      <CallStatus call={{ ok: pick.ok }} />
                    </a>
                  )}
                </td>
              </tr>
            );
          })}
        </Table>
      )}
      <p class="card-lead muted small">
        {!search.isHit && found.length > 0 &&
          "These matches are too weak: the search counts as one that found nothing. "}
        {more > 0 && `${formatCount(more, "more tool")} returned. `}
        {picks.length === 0
          ? "None of these tools was called in the same session within 30 minutes."
          : `${formatCount(picks.length, "call")} followed in the same session.`}
      </p>
    </Card>
  );
}

/** Turns the call into a golden prompt, for this tool or for another one. */
function Judge(
  { judge: { rightTool, wrongTool }, id }: { judge: NonNullable<CallPage["judge"]>; id: string },
) {
  const { action, fields, others } = wrongTool;
  return (
    <Card title="Was this the right tool?">
      <p class="muted">
        Either answer opens a new golden prompt, filled in from the arguments. Golden prompts are
        used to evaluate tool descriptions.
      </p>
      <form class="form-actions judge" method="get" action={action} f-client-nav={false}>
        <a class="button" href={rightTool}>
          <Icon name="check" size={14} />
          Right tool
        </a>
        <span class="judge-wrong">
          <HiddenFields fields={fields} />
          {others.length > 0 && (
            <>
              <label for="expected-tool">It should have been</label>
              <select id="expected-tool" class="select mono" name="expectedTool">
                <option value="">another tool, or none</option>
                {others.map((name) => <option key={name} value={name}>{inertString(name)}</option>)}
              </select>
            </>
          )}
          <button type="submit" class="button">
            <Icon name="close" size={14} />
            Wrong tool
          </button>
        </span>
      </form>
      <PostForm class="form-actions" action="/activity/~mark" fields={{ id }}>
        <button type="submit" class="link-button small">Mark it without a prompt</button>
      </PostForm>
    </Card>
  );
}

function CallFacts({ page: { call } }: { page: CallPage }) {
  return (
    <Facts>
      <Fact name="Time">
        <Exactly at={call.at} />
      </Fact>
      <Fact name="Duration">{formatDuration(call.ms)}</Fact>
      {call.searchId !== undefined && (
        <Fact name="Found by">
          <a href={callPath(call.searchId)} aria-current="false">
            The search that led to this call
          </a>
        </Fact>
      )}
      {call.findings !== undefined && (
        <Fact name="Content guard">
          {call.findings.map(({ kind, rule, place, action }, index) => (
            <span key={index} class="small">
              {action}: {kind} ({rule}) at <InertText as="span" class="mono" text={place} />
            </span>
          ))}
        </Fact>
      )}
      <Fact name="Client">
        {call.client === undefined ? "Unknown" : <InertText text={call.client} />}
      </Fact>
      <Fact name="Endpoint">
        <InertText as="span" class="mono" text={endpointName(call.endpoint)} />
      </Fact>
      {call.search
        ? (
          <Fact name="Searched with">
            <span class="mono">{call.tool}</span>
          </Fact>
        )
        : (
          <>
            <Fact name="Server">
              <a class="mono" href={serverPath(call.server)}>
                <InertText text={call.server} />
              </a>
            </Fact>
            <Fact name="Tool">
              <a class="mono" href={toolPath(call.server, call.tool)}>
                <InertText text={call.tool} />
              </a>
            </Fact>
          </>
        )}
      <Fact name="Sizes">{formatSizes(call) ?? "Unknown"}</Fact>
      <Fact name="Session">
        <span class="mono">{call.session.slice(0, 8)}</span>
        <CopyButton value={call.session} label="Copy session ID" />
        <a href={`/activity?session=${call.session}`} aria-current="false">Show all its calls</a>
      </Fact>
      <Fact name="Call">
        <span class="mono">{call.id}</span>
        <CopyButton value={call.id} label="Copy call ID" />
      </Fact>
    </Facts>
  );
}

/** JSON over several lines; other text as it is. */
function indented(text: string): string {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function Messages({ page }: { page: CallPage }) {
  const { view } = page;
  if (view === undefined) {
    return (
      <Card title="Request and response">
        <p class="muted">
          The request and response are no longer available. They are kept in memory only, for the
          last {formatNumber(page.detailsKept)}{" "}
          calls, until the gateway stops. They are never written to disk.
        </p>
      </Card>
    );
  }
  const { request, response } = view;
  return (
    <>
      <Card title="Request" aside={<CopyButton value={request.text} label="Copy the request" />}>
        <Text text={request.text} label="Request" isCut={request.isCut} />
      </Card>
      <Card
        title="Response"
        aside={<CopyButton value={response.text} label="Copy the response" />}
      >
        {response.words.map((words, index) => (
          <Text key={index} text={indented(words)} label="Tool output" isCut={false} />
        ))}
        {response.words.length === 0
          ? <Text text={response.text} label="Response" isCut={response.isCut} />
          : (
            <details class="definition">
              <summary>Full result</summary>
              <Text text={response.text} label="Full result" isCut={response.isCut} />
            </details>
          )}
      </Card>
    </>
  );
}

function Text({ text, label, isCut }: { text: string; label: string; isCut: boolean }) {
  return (
    <div class="said">
      <pre tabIndex={0} role="region" aria-label={label}><InertText text={text} /></pre>
      {isCut && <p class="muted small">Truncated: only the beginning is kept.</p>}
    </div>
  );
}

const WIDTH = 400;
const HEIGHT = 10;
/** What took hardly any time can still be seen. */
const LEAST = 2;

function CallTimeline({ turns }: { turns: CallTurn[] }) {
  return (
    <ol class="timeline">
      {turns.map(({ who, stretches, text }) => (
        <li key={who}>
          <span class="timeline-who">{who}</span>
          <svg
            class="timeline-bar"
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            <rect class="bar-track" width={WIDTH} height={HEIGHT} />
            {stretches.map(({ start, share }, index) => (
              <rect
                key={index}
                class={`timeline-fill is-${who.toLowerCase()}`}
                x={Math.min(start * WIDTH, WIDTH - LEAST)}
                width={Math.max(LEAST, share * WIDTH)}
                height={HEIGHT}
              />
            ))}
          </svg>
          <span class="timeline-words">{text}</span>
        </li>
      ))}
    </ol>
  );
}
