import type { Collision } from "../lib/routing/collisions.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { Card } from "./card.tsx";
import { InertText } from "./inert_text.tsx";

const SHOWN = 20;

interface Props {
  collisions: readonly Collision[];
  noun: "tool" | "prompt";
}

/** Those that had to give up their plain name at the doors, and the other owner of each. */
export function NameCollisions({ collisions, noun }: Props) {
  if (collisions.length === 0) return null;
  return (
    <Card title="Name collisions" aside={formatCount(collisions.length, noun)} isFlush>
      <ul class="rows">
        {collisions.slice(0, SHOWN).map((collision) => (
          <li key={`${collision.namespaced} ${collision.keptBy}`} class="row">
            <p class="row-text">
              <CollisionWords collision={collision} />
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

/** Both owners, and why it is the other's, or nobody's. */
export function CollisionWords({ collision }: { collision: Collision }) {
  const { namespaced, keptBy, cutLike, plain, flat } = collision;
  if (cutLike !== undefined) {
    return (
      <>
        <Name text={namespaced} /> is called <Name text={flat} />, because both it and{" "}
        <Name text={cutLike} /> are too long, and begin with <Name text={plain} />{" "}
        once they are cut: only the end tells them apart.
      </>
    );
  }
  return (
    <>
      <Name text={namespaced} /> is called <Name text={flat} />, because <Name text={plain} />{" "}
      is the name of {keptBy === undefined ? "a tool of the gateway's own." : (
        <>
          <Name text={keptBy} />, whose full name comes first in the alphabet.
        </>
      )}
    </>
  );
}

function Name({ text }: { text: string }) {
  return (
    <code>
      <InertText text={text} />
    </code>
  );
}
