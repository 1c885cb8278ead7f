import type { ToolChange, ToolDiff } from "../lib/catalog/tool_diff.ts";
import type { ToolEvent, ToolStep } from "../lib/catalog/tool_history.ts";
import type { ToolChanges } from "../lib/console/tool_rows.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { toolPath } from "../lib/console/ui/pages.ts";
import { Ago, InertText, Segments } from "./text.tsx";
import { Badge } from "./badges.tsx";
import { Card } from "./layout.tsx";
import { Icon } from "./icon.tsx";

/** As many as are read at a glance; the tool's own page has more. */
const CHANGES_IN_LIST = 8;

export function ToolChangeList(
  { server, changes, held = [] }: {
    server: string;
    changes: ToolChanges | undefined;
    held?: readonly string[];
  },
) {
  const title = "Tool changes";
  if (changes === undefined) return <Unread title={title} />;
  const { events, more, since } = changes;
  if (events.length === 0) {
    return (
      <Card title={title} isFlush>
        <p class="card-lead muted">
          {since === undefined ? "Changes to this server's tools will appear here." : (
            <>
              No changes since the tools were first seen, <Ago at={since} />.
            </>
          )}
        </p>
      </Card>
    );
  }
  const newestOf = new Map(events.toReversed().map((event) => [event.tool, event]));
  return (
    <Card title={title} isFlush aside={formatCount(events.length + more, "change")}>
      <ol class="rows">
        {events.map((event) => (
          <EventRow
            key={`${event.tool} ${event.kind} ${event.at}`}
            server={server}
            event={event}
            isHeld={held.includes(event.tool) && newestOf.get(event.tool) === event}
          />
        ))}
        {more > 0 && (
          <li class="row muted">
            <p>
              {formatCount(more, "earlier change")}:{" "}
              <code>quartermaster server tools {server} --history</code>
            </p>
          </li>
        )}
      </ol>
    </Card>
  );
}

function EventRow(
  { server, event, isHeld }: { server: string; event: ToolEvent; isHeld: boolean },
) {
  const name = <InertText text={event.tool} />;
  const diff = event.kind === "changed" ? event.diff : undefined;
  return (
    <li class="row">
      <div class="row-text change">
        <p class="change-head">
          {event.isListed
            ? <a class="mono" href={toolPath(server, event.tool)}>{name}</a>
            : <span class="mono strong">{name}</span>}
          {event.kind === "added" && <Badge>New</Badge>}
          {event.kind === "gone" && <Badge tone="warn" icon="alert">No longer listed</Badge>}
          {isHeld && event.kind !== "gone" && <Held isNew={event.kind === "added"} />}
          {event.kind === "changed" && <span class="muted">version {event.version}</span>}
          {diff && <CompatibilityBadge diff={diff} />}
          <span class="row-aside">
            <Ago at={event.at} />
          </span>
        </p>
        {diff && <Diff diff={diff} limit={CHANGES_IN_LIST} />}
      </div>
    </li>
  );
}

export function ToolVersions(
  { versions, older, isHeld = false }: {
    versions: ToolStep[] | undefined;
    older: number;
    isHeld?: boolean;
  },
) {
  if (versions === undefined) return <Unread title="Versions" />;
  const [newest, before] = versions;
  if (newest === undefined) {
    return (
      <Card title="Versions">
        <p class="muted">
          Changes to this tool's definition will appear here.
        </p>
      </Card>
    );
  }
  if (before === undefined && older === 0) {
    return (
      <Card title="Versions" aside="version 1">
        <p class="muted">
          No changes since the tool was first seen, <Ago at={newest.seenAt} />.
        </p>
      </Card>
    );
  }
  return (
    <Card title="Versions" aside={`version ${newest.version}`} isFlush>
      <ol class="rows">
        {versions.map(({ version, seenAt, diff }) => (
          <li key={version} class="row">
            <div class="row-text change">
              <p class="change-head">
                <span class="strong">Version {version}</span>
                {isHeld && version === newest.version && <Held />}
                {diff && <CompatibilityBadge diff={diff} />}
                <span class="row-aside">
                  <Ago at={seenAt} />
                </span>
              </p>
              {diff ? <Diff diff={diff} /> : (
                <p class="muted">
                  {version === 1 ? "First version seen." : "Oldest version compared here."}
                </p>
              )}
            </div>
          </li>
        ))}
        {older > 0 && <li class="row muted">{formatCount(older, "earlier version")} not shown</li>}
      </ol>
    </Card>
  );
}

function Held({ isNew = false }: { isNew?: boolean }) {
  return (
    <>
      <Badge tone="warn" icon="pending">Held</Badge>
      <span class="muted small">
        {isNew ? "hidden from clients" : "clients still get the previous version"}
      </span>
      <a href="/security/review">Review</a>
    </>
  );
}

function Unread({ title }: { title: string }) {
  return (
    <Card title={title}>
      <p class="muted">
        The data store cannot be read right now. Check its state on the dashboard, then reload this
        page.
      </p>
    </Card>
  );
}

export function CompatibilityBadge({ diff }: { diff: ToolDiff }) {
  return diff.compatibility === "breaking"
    ? <Badge tone="bad" icon="alert" title="Existing calls may fail">Breaking</Badge>
    : <Badge tone="ok" icon="check" title="Existing calls keep working">Compatible</Badge>;
}

export function Diff({ diff, limit = Infinity }: { diff: ToolDiff; limit?: number }) {
  const shown = diff.changes.slice(0, limit);
  const more = diff.more + diff.changes.length - shown.length;
  return (
    <>
      {diff.reasons.length > 0 && (
        <ul class="change-reasons">
          {diff.reasons.map((reason) => (
            <li key={reason}>
              <InertText text={reason} />
            </li>
          ))}
        </ul>
      )}
      {shown.length === 0 ? <p class="muted">No visible changes.</p> : (
        <dl class="diff">
          {shown.map((change, index) => (
            <div key={index}>
              <dt class="mono">
                <InertText text={change.path} />
              </dt>
              <dd>
                <ChangeText change={change} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {more > 0 && <p class="muted small">and {formatCount(more, "more change")}</p>}
    </>
  );
}

function ChangeText({ change }: { change: ToolChange }) {
  switch (change.kind) {
    case "text":
      return (
        <span class="prose">
          <Segments segments={change.segments} />
        </span>
      );
    case "added":
      return (
        <>
          added <Added text={change.after} />
        </>
      );
    case "removed":
      return (
        <>
          removed <Removed text={change.before} />
        </>
      );
    case "changed":
      return (
        <>
          <Removed text={change.before} />
          <Icon name="arrowRight" size={12} label="became" />
          <Added text={change.after} />
        </>
      );
    case "reordered":
      return <>same values, different order</>;
  }
}

function Added({ text }: { text: string }) {
  return (
    <ins class="mono">
      <InertText text={text} />
    </ins>
  );
}

function Removed({ text }: { text: string }) {
  return (
    <del class="mono">
      <InertText text={text} />
    </del>
  );
}
