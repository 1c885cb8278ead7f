import { Card } from "../../../../components/layout.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { InertText } from "../../../../components/text.tsx";
import type { Collision } from "../../../../lib/catalog/name_table.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { reviewPath, serverPath } from "../../../../lib/console/ui/pages.ts";
import { isStarting, type ServerStatus } from "../../../../lib/core/server.ts";
import type { WithheldTool } from "../[server]/(_page)/model.ts";

/** A tool that cannot be shown because its server has not listed its tools since the start. */
export function UnlistedTool({ server, tool }: { server: ServerStatus; tool: string }) {
  const { name, reason } = server;
  const isComing = isStarting(server.state);
  return (
    <section class="failure" aria-labelledby="unlisted-title">
      <span class="failure-icon">
        <Icon name={isComing ? "pending" : "unplugged"} size={20} />
      </span>
      <h1 id="unlisted-title">
        {isComing ? "The server is starting" : "The server is not connected"}
      </h1>
      <p class="failure-message" role="status">
        <Name text={`${name}.${tool}`} /> appears here as soon as <Name text={name} />{" "}
        has listed its tools.
      </p>
      {isComing ? null : <InertText as="p" class="muted" text={reason} />}
      <div class="failure-actions">
        <a class="button button-primary" href={serverPath(name)}>Show the server</a>
      </div>
    </section>
  );
}

const REASONS: Record<WithheldTool["state"], { title: string; why: string }> = {
  quarantined: {
    title: "The tool is in quarantine",
    why: "Its definition looks like an attack, so clients cannot see or call it.",
  },
  held: {
    title: "The tool is held",
    why: "Its server added it. Clients do not see it until someone approves it.",
  },
};

export function WithheldNotice({ page: { withheld, state, server } }: { page: WithheldTool }) {
  const { title, why } = REASONS[state];
  return (
    <section class="failure" aria-labelledby="withheld-title">
      <span class="failure-icon">
        <Icon name="alert" size={20} />
      </span>
      <h1 id="withheld-title">{title}</h1>
      <p class="failure-message" role="status">
        <InertText as="code" text={`${server.name}.${withheld}`} />
        {": "}
        {why}
      </p>
      <div class="failure-actions">
        <a class="button button-primary" href={reviewPath(server.name, withheld)}>Review it</a>
        <a class="button" href={serverPath(server.name)}>Show the server</a>
      </div>
    </section>
  );
}

export function ReviewNotice(
  { quarantined, held, server }: { quarantined: number; held: number; server?: string },
) {
  if (quarantined + held === 0) return null;
  const counts = [
    ...(quarantined === 0 ? [] : [`${formatCount(quarantined, "tool")} in quarantine`]),
    ...(held === 0 ? [] : [`${formatCount(held, "change")} held`]),
  ];
  return (
    <p class="notice tone-warn">
      <Icon name="alert" size={14} />
      <span>{counts.join(", ")}</span>
      <a href={reviewPath(server)}>Review</a>
    </p>
  );
}

const SHOWN = 20;

/** Tools or prompts that lost their plain name at the endpoints, each with the other owner. */
export function NameCollisions(
  { collisions, noun }: { collisions: readonly Collision[]; noun: "tool" | "prompt" },
) {
  if (collisions.length === 0) return null;
  return (
    <Card title="Name collisions" aside={formatCount(collisions.length, noun)} isFlush>
      <ul class="rows">
        {collisions.slice(0, SHOWN).map((collision) => (
          <li key={`${collision.namespaced} ${collision.keptBy}`} class="row">
            <p class="row-text">
              <CollisionText collision={collision} />
            </p>
          </li>
        ))}
        {collisions.length > SHOWN && (
          <li class="row muted">{formatCount(collisions.length - SHOWN, `more ${noun}`)}</li>
        )}
      </ul>
    </Card>
  );
}

export function CollisionText({ collision }: { collision: Collision }) {
  const { namespaced, keptBy, cutLike, plain, flat } = collision;
  if (cutLike !== undefined) {
    return (
      <>
        <Name text={namespaced} /> is called <Name text={flat} />, because both it and{" "}
        <Name text={cutLike} /> exceed the length limit and would both be cut to{" "}
        <Name text={plain} />.
      </>
    );
  }
  return (
    <>
      <Name text={namespaced} /> is called <Name text={flat} />, because <Name text={plain} />{" "}
      is already the name of {keptBy === undefined ? "one of the gateway's own tools." : (
        <>
          <Name text={keptBy} />, whose full name comes first alphabetically.
        </>
      )}
    </>
  );
}

function Name({ text }: { text: string }) {
  return <InertText as="code" text={text} />;
}
