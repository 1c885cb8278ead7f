import { Confirm, PostButton } from "../../../../../components/forms.tsx";
import { Badge } from "../../../../../components/badges.tsx";
import { Card, Fact, Facts } from "../../../../../components/layout.tsx";
import { Ago, CodeBlock, InertText } from "../../../../../components/text.tsx";
import { CompatibilityBadge, Diff } from "../../../../../components/tool_history.tsx";
import { formatCount, inertString } from "../../../../../lib/console/ui/format.ts";
import type { PackageUpdate } from "../../../../../lib/operations/packages_admin.ts";
import { REVIEW_PATH } from "./items.tsx";

/** Newer releases of servers' packages: none runs until it was tried and accepted here. */
export function PackageUpdates(
  { updates, canTry }: { updates: PackageUpdate[]; canTry: boolean },
) {
  return (
    <>
      {updates.map((update) => <UpdateCard key={update.server} update={update} canTry={canTry} />)}
    </>
  );
}

function UpdateCard({ update, canTry }: { update: PackageUpdate; canTry: boolean }) {
  const { server, from, to, publishedAt, foundAt, isTried, tools } = update;
  const id = `update-${server}`;
  return (
    <Card title={`Package update of ${server}`} aside={<Ago at={foundAt} />}>
      <div class="stack" id={id}>
        <Facts>
          {to.map(({ name, version, integrity }, nth) => (
            <Fact key={name} name="Package">
              <span>
                <InertText as="code" text={`${name} ${from[nth]?.version}`} /> →{" "}
                <InertText as="code" class="strong" text={version} />
              </span>
              <InertText as="span" class="mono small muted" text={integrity} />
            </Fact>
          ))}
          {publishedAt !== undefined && (
            <Fact name="Published">
              <Ago at={publishedAt} />
            </Fact>
          )}
          <Fact name="Tools">
            {!isTried
              ? "Not known until the release is tried"
              : tools.length === 0
              ? "The same as now"
              : formatCount(tools.length, "difference")}
          </Fact>
        </Facts>
        {tools.map((changed) => <ChangedTool key={changed.tool} changed={changed} id={id} />)}
        {!isTried && !canTry && (
          <p class="muted small">
            To try it, run this on the gateway's own machine:{" "}
            <code>quartermaster package try {server}</code>
          </p>
        )}
        <Decide update={update} canTry={canTry} />
      </div>
    </Card>
  );
}

const TONES = { added: "info", removed: "warn", changed: "info", invalid: "bad" } as const;

function ChangedTool(
  { changed: { tool, kind, diff, definition }, id }: {
    changed: PackageUpdate["tools"][number];
    id: string;
  },
) {
  return (
    <details open class="change">
      <summary>
        <InertText as="span" class="mono strong" text={tool} /> {diff
          ? <CompatibilityBadge diff={diff} />
          : <Badge tone={TONES[kind]} icon="info">{kind}</Badge>}
      </summary>
      {diff && <Diff diff={diff} />}
      {definition !== undefined && (
        <CodeBlock code={inertString(definition)} label={`definition of ${tool} in ${id}`} />
      )}
    </details>
  );
}

function Decide(
  { update: { server, to, isTried, fingerprint }, canTry }: {
    update: PackageUpdate;
    canTry: boolean;
  },
) {
  const fields = { name: server, fingerprint };
  const refuse = (
    <PostButton
      action={REVIEW_PATH}
      label="Refuse update"
      busy="Refusing"
      subject={server}
      fields={{ ...fields, action: "refuse-update" }}
    />
  );
  if (!isTried) {
    return (
      <div class="form-actions">
        {canTry && (
          <PostButton
            action={REVIEW_PATH}
            label="Try update"
            busy="Trying the update…"
            subject={server}
            fields={{ name: server, action: "try-update" }}
          />
        )}
        {refuse}
      </div>
    );
  }
  return (
    <div class="form-actions">
      <Confirm
        id={`accept-${server}`}
        label="Update"
        subject={server}
        title={`Run ${to.map(({ name, version }) => `${name} ${version}`).join(", ")}?`}
        action={REVIEW_PATH}
        verb="Update"
        busy="Updating"
        fields={{ ...fields, action: "accept-update" }}
      >
        The server restarts with this release, and clients see its tools as they are shown here.
      </Confirm>
      {refuse}
    </div>
  );
}
