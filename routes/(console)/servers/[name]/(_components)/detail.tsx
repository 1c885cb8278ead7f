import { Ago, CodeBlock, InertText, Since } from "../../../../../components/text.tsx";
import { Card, Fact, Facts, PageHeader, SideList } from "../../../../../components/layout.tsx";
import { ClientSnippets } from "../../../../../components/client_snippets.tsx";
import { Confirm, PostForm } from "../../../../../components/forms.tsx";
import { EmptyState, Notice } from "../../../../../components/states.tsx";
import { Icon, type IconName } from "../../../../../components/icon.tsx";
import { Pager, Table } from "../../../../../components/tables.tsx";
import { StateBadge, StateIcon, stateWord } from "../../../../../components/server_state.tsx";
import { ToolChangeList } from "../../../../../components/tool_history.tsx";
import { StateLabel, WaitBadge } from "../../../../../components/badges.tsx";
import { RefreshSoon } from "../../../../../islands/frame.tsx";
import { serverFix } from "../../../../../lib/console/attention.ts";
import type { ToolRow } from "../../../../../lib/console/tool_rows.ts";
import {
  formatCount,
  formatLatency,
  formatSpan,
  inertString,
} from "../../../../../lib/console/ui/format.ts";
import {
  reviewPath,
  serverPath,
  serverStep,
  toolPath,
} from "../../../../../lib/console/ui/pages.ts";
import { isStarting, isTransport, type ServerStatus } from "../../../../../lib/core/server.ts";
import { CONNECTED } from "../../../../../lib/core/text.ts";
import { FixButtons, ProblemRows } from "../../../(_components)/attention.tsx";
import { ReviewNotice } from "../../../tools/(_components)/notices.tsx";
import { DemoForm, ServerReason, SourceLabel } from "../../(_components)/labels.tsx";
import { LogTail } from "../../(_islands)/servers.tsx";
import { loginPath } from "../(_page)/login.ts";
import type { ServerPage } from "../(_page)/model.ts";
import { AboutServer, Features, UseStats } from "./use.tsx";

const TYPES = {
  stdio: "A process on this machine (stdio)",
  http: "Remote, streamable HTTP",
  sse: "Remote, server-sent events",
  demo: "Built into Quartermaster",
} as const;

export function ServerDetail({ page, url }: { page: ServerPage; url: URL }) {
  const { server, tools, problems } = page;
  const held = page.waiting.filter(({ state }) => state === "held").map(({ tool }) => tool);
  // The page of a server that does not work is opened to find out why.
  const isInTrouble = !["ready", "disabled", "paused"].includes(server.state);
  return (
    <div class="split">
      <SideList
        title="Servers"
        total={page.total}
        allHref="/servers"
        current={server.name}
        entries={page.neighbors.map(({ name, state }) => ({
          name,
          href: serverPath(name),
          icon: <StateIcon state={state} />,
        }))}
      />
      <article class="detail">
        {/* What changed before the live channel was open is not sent there. */}
        {isStarting(server.state) && <RefreshSoon madeAt={Date.now()} />}
        <PageHeader
          title={<InertText as="span" class="mono" text={server.name} />}
          action={<ServerActions page={page} />}
        />
        <UseStats page={page} />
        <Card>
          <Facts>
            <Fact name="State">
              <StateBadge state={server.state} />
              <span class="muted">
                <Ago at={server.since} />
              </span>
            </Fact>
            {server.reason !== CONNECTED && (
              <Fact name="Reason">
                <ServerReason server={server} />
              </Fact>
            )}
            {server.lastError !== undefined && !server.reason.includes(server.lastError) && (
              <Fact name="Last error">
                <InertText text={server.lastError} />
              </Fact>
            )}
            <Fact name="Type">{TYPES[server.type]}</Fact>
            <Fact name="Source">
              <SourceLabel source={server.source} isLong />
              {server.source.kind === "file" && (
                <span class="small muted">Edit that file; changes apply automatically.</span>
              )}
            </Fact>
            {page.packages && <Packages packages={page.packages} />}
            {server.latencyMs !== undefined && (
              <Fact name="Latency">{formatLatency(server.latencyMs)} to list its tools</Fact>
            )}
            <AboutServer page={page} />
          </Facts>
        </Card>
        <ServerLogin server={server} hasLogin={page.hasLogin} />
        <ReviewNotice
          quarantined={page.waiting.length - held.length}
          held={held.length}
          server={server.name}
        />
        {page.found && <ContentFindings server={server.name} found={page.found} />}
        {problems.length > 0 && (
          <Card title="In its configuration" isFlush>
            <ul class="rows">
              <ProblemRows problems={problems} />
            </ul>
          </Card>
        )}
        {page.invalid.entries.length > 0 && <InvalidTools server={server.name} {...page.invalid} />}
        {isInTrouble && <Records page={page} />}
        <Card
          title="Tools"
          aside={page.exposed === tools.total
            ? formatCount(tools.total, "tool")
            : `${page.exposed} of ${formatCount(tools.total, "tool")} exposed`}
          isFlush
        >
          {tools.total === 0
            ? (
              <EmptyState icon="tools" title="No tools">
                {server.state === "ready"
                  ? "This server is connected and offers no tools."
                  : page.isEntryWrong
                  ? "Its tools will appear here once its configuration is corrected."
                  : "Its tools will appear here once the server is connected."}
              </EmptyState>
            )
            : <ToolsTable rows={tools.rows} />}
          <Pager list={tools} url={url} noun="tools" />
        </Card>
        <Features features={page.features ?? []} />
        <ClientSnippets endpoint={page.endpoint} snippets={page.snippets} isFolded />
        {isInTrouble ? null : <Records page={page} />}
        <ToolChangeList server={server.name} changes={page.changes} held={held} />
      </article>
    </div>
  );
}

/** What the content guard found in what the server said. */
function ContentFindings(
  { server, found: { messages, blocked, latest } }: {
    server: string;
    found: NonNullable<ServerPage["found"]>;
  },
) {
  const kinds = [...new Set(latest.findings.map(({ kind, rule }) => `${kind} (${rule})`))];
  return (
    <Notice tone="warn" icon="alert">
      <p class="strong">
        The content guard found something in {formatCount(messages, "message")}{" "}
        of this server since the gateway started{blocked > 0 && `; ${blocked} withheld`}.
      </p>
      <p>
        Latest, <Ago at={latest.at} />, in <span class="mono">{latest.method}</span>:{" "}
        <InertText text={kinds.slice(0, 5).join(", ")} />.{" "}
        <a
          href={latest.call === undefined
            ? `/activity?server=${encodeURIComponent(server)}`
            : `/activity/${latest.call}`}
        >
          {latest.call === undefined ? "Show its calls" : "Show the call"}
        </a>
      </p>
    </Notice>
  );
}

/** The server's pinned packages, and whether an update waits for review. */
function Packages({ packages: { server, packages, problem, pinnedAt, update } }: {
  packages: NonNullable<ServerPage["packages"]>;
}) {
  const nameOf = ({ name, version }: { name: string; version: string }) => `${name} ${version}`;
  return (
    <Fact name="Package">
      {packages.map((each) => <InertText key={each.name} as="code" text={nameOf(each)} />)}
      {pinnedAt !== undefined && (
        <span class="muted">
          pinned <Ago at={pinnedAt} />
        </span>
      )}
      {problem !== undefined && <span class="muted">Not pinned. {problem}</span>}
      {update && (
        <a href={reviewPath(server)}>
          Review the update to <InertText text={update.to.map(nameOf).join(", ")} />
        </a>
      )}
    </Fact>
  );
}

function Records({ page: { server, logs, states } }: { page: ServerPage }) {
  const isRemote = isTransport(server.type, "address");
  return (
    <>
      {logs && !isTransport(server.type, "in-process") && (
        <Card title="Log" aside={isRemote ? "latest log messages" : "latest stderr output"}>
          <LogTail
            key={server.name}
            server={server.name}
            lines={logs.written}
            empty={isRemote
              ? "The server has sent no log messages."
              : "The server has written nothing to stderr."}
          />
        </Card>
      )}
      {logs && <ServerLog lines={logs.noted} />}
      <ServerStates states={states} />
    </>
  );
}

function ServerActions({ page }: { page: ServerPage }) {
  const { server } = page;
  const { name, source, state } = server;
  const fix = serverFix(server);
  return (
    <div class="actions-row">
      {fix.verb === "Repair" && <FixButtons fixes={[fix]} subject={name} back={serverPath(name)} />}
      {state === "paused"
        ? <Step name={name} step="resume" icon="refresh" label="Resume" />
        : state !== "disabled" && !page.isEntryWrong && (
          <>
            <Step name={name} step="restart" icon="refresh" label="Restart" />
            {state !== "ready" && source.kind !== "demo" && (
              <Step name={name} step="pause" icon="paused" label="Pause retries" />
            )}
          </>
        )}
      {source.kind === "store" && (
        <>
          <a class="button" href={serverStep(name, "edit")}>Edit</a>
          <RemoveServer page={page} />
        </>
      )}
      {source.kind === "demo" && <DemoForm action="remove" />}
      <a class="button button-primary" href={serverStep(name, "tools")}>Configure tools</a>
    </div>
  );
}

interface StepProps {
  name: string;
  step: "restart" | "pause" | "resume";
  icon: IconName;
  label: string;
}

function Step({ name, step, icon, label }: StepProps) {
  return (
    <PostForm action={serverStep(name, step)}>
      <button type="submit" class="button">
        <Icon name={icon} size={14} />
        {label}
      </button>
    </PostForm>
  );
}

function RemoveServer({ page: { server, tools, usedBy } }: { page: ServerPage }) {
  const { name } = server;
  return (
    <Confirm
      id={`remove-${name}`}
      label="Remove"
      subject={name}
      title={`Remove ${name}?`}
      action={serverStep(name, "remove")}
      verb="Remove server"
      isDangerous
    >
      Clients lose its {formatCount(tools.total, "tool")}, and its endpoint{" "}
      <code class="place">/servers/{name}/mcp</code> closes.{" "}
      {usedBy.length === 0 ? "No toolset uses its tools." : (
        <>
          {formatCount(usedBy.length, "toolset uses", "toolsets use")} its tools:{" "}
          {usedBy.slice(0, 5).join(", ")}
          {usedBy.length > 5 ? ` and ${usedBy.length - 5} more` : ""}.
        </>
      )}
    </Confirm>
  );
}

function ServerLogin({ server, hasLogin }: { server: ServerStatus; hasLogin: boolean }) {
  if (!isTransport(server.type, "address")) return null;
  const href = loginPath(server.name);
  if (server.state !== "needs_login") {
    if (!hasLogin) return null;
    return (
      <p class="small muted">
        <a href={href}>Login</a> to this server: see who logged in, or log out.
      </p>
    );
  }
  return (
    <Notice tone="warn" icon="lock">
      <p class="strong">This server requires a login.</p>
      <p>Its tools work after you log in with its authorization server.</p>
      <p>
        <a class="button button-primary" href={href}>Log in</a>
      </p>
    </Notice>
  );
}

function ToolsTable({ rows }: { rows: ToolRow[] }) {
  return (
    <Table
      caption="Tools"
      class="tools-table is-single"
      columns={[["Name", "col-tool"], ["Description", "col-description"]]}
    >
      {rows.map((tool) => (
        <tr key={tool.name} data-row>
          <td class="cut" title={inertString(tool.name)}>
            <a class="mono cover strong" href={toolPath(tool.server, tool.name)} data-row-link>
              <InertText text={tool.name} />
            </a>
          </td>
          <td class="muted" title={inertString(tool.summary)}>
            <p class="cut">
              <WaitBadge server={tool.server} tool={tool.name} wait={tool.wait} />
              {tool.isOff && <span class="badge">Off</span>}
              {tool.summary === "" ? "No description" : <InertText text={tool.summary} />}
            </p>
          </td>
        </tr>
      ))}
    </Table>
  );
}

const TONES: Record<string, string> = { warn: "tone-warn", error: "tone-bad", fatal: "tone-bad" };

function ServerLog({ lines }: { lines: NonNullable<ServerPage["logs"]>["noted"] }) {
  return (
    <Card title="Gateway log" aside="entries about this server, newest first">
      {lines.length === 0
        ? (
          <p class="muted log-empty">
            No entries since the gateway started. You can change the log level under Settings.
          </p>
        )
        : (
          <ol class="log gateway-log" tabIndex={0} aria-label="Gateway log for this server">
            {lines.map(({ time, level, text }, index) => (
              <li key={`${time} ${index}`}>
                <Moment at={time} /> <span class={TONES[level] ?? "muted"}>{level}</span>{" "}
                <InertText text={text} />
              </li>
            ))}
          </ol>
        )}
    </Card>
  );
}

/** To the second, as lines that are compared need it; in local words once the clock runs. */
function Moment({ at }: { at: number }) {
  const exact = new Date(at).toISOString();
  return (
    <time class="muted" dateTime={exact} title={exact} data-clock="time">
      {exact.slice(0, 19).replace("T", " ")}
    </time>
  );
}

const SHOWN = 10;

function reconnects(states: ServerPage["states"]): string {
  const times = states.filter(({ state }) => state === "ready").length - 1;
  return times > 0 ? formatCount(times, "reconnect") : "no reconnects";
}

function ServerStates({ states }: Pick<ServerPage, "states">) {
  if (states.length === 0) return null;
  return (
    <Card title="State history" aside={`${reconnects(states)} since the gateway started`} isFlush>
      <ol class="rows">
        {states.slice(0, SHOWN).map(({ state, reason, error, since }, index) => {
          const ended = states[index - 1]?.since;
          return (
            <li key={since + state} class="row state-row">
              <StateBadge state={state} />
              <div class="row-text">
                {reason !== CONNECTED && reason !== stateWord(state) && (
                  <InertText as="p" text={reason} />
                )}
                {error !== undefined && !reason.includes(error) && (
                  <InertText as="p" class="small muted" text={error} />
                )}
              </div>
              <span class="row-aside">
                <Ago at={since} />, for{" "}
                {ended === undefined ? <Since at={since} /> : formatSpan(ended - since)}
              </span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

function InvalidTools(
  { server, entries, more }: ServerPage["invalid"] & { server: string },
) {
  return (
    <Card
      title="Invalid tools"
      aside={formatCount(entries.length + more, "tool")}
      isFlush
    >
      <p class="card-lead muted">
        The server lists these, but they are not valid MCP tools. They are hidden from clients,
        because some would reject the whole list. The server's author must fix them.
      </p>
      <ul class="rows">
        {entries.map(({ name, problem, seenAt, definition }, index) => (
          <li key={index} class="row">
            <StateLabel tone="bad" icon="error">Invalid</StateLabel>
            <div class="row-text">
              <InertText as="p" class="mono strong" text={name} />
              <InertText as="p" class="muted" text={problem} />
              <details class="definition">
                <summary>Definition as the server sent it</summary>
                <CodeBlock code={definition} label={`definition ${index + 1}`} />
              </details>
            </div>
            <span class="row-aside">
              <Ago at={seenAt} />
            </span>
          </li>
        ))}
        {more > 0 && (
          <li class="row">
            <a href={`/tools?${new URLSearchParams({ state: "invalid", server })}`}>
              {formatCount(more, "more invalid tool")}
            </a>
          </li>
        )}
      </ul>
    </Card>
  );
}
