import type { Audience } from "../lib/console/audience.ts";
import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { InertText } from "./inert_text.tsx";

interface EquipEffectProps {
  audience: Audience;
  /** How many of its tools can be called. */
  tools: number;
  /** How many they have of what is equipped now. */
  before: number;
}

/** What equipping does to the clients that are there. */
export function EquipEffect({ audience, tools, before }: EquipEffectProps) {
  if (audience.count === 0) {
    return (
      <>
        No client is connected to <code>/mcp</code> now. The next one sees{" "}
        {formatCount(tools, "tool")} instead of {formatNumber(before)}.
      </>
    );
  }
  return (
    <>
      {formatCount(audience.count, "client")} will see {formatCount(tools, "tool")} instead of{" "}
      {formatNumber(before)}: <Names audience={audience} />. The gateway's own tools stay.
    </>
  );
}

/** What unequipping does to them. */
export function UnequipEffect({ audience, tools }: Omit<EquipEffectProps, "before">) {
  if (audience.count === 0) {
    return (
      <>
        No client is connected to <code>/mcp</code>{" "}
        now. The next one sees the gateway's own tools alone.
      </>
    );
  }
  return (
    <>
      {formatCount(audience.count, "client")} will see 0 tools instead of {formatNumber(tools)}:
      {" "}
      <Names audience={audience} />. The gateway's own tools stay.
    </>
  );
}

/** Who sees its tools now. */
export function SeenBy(
  { audience, tools, at }: { audience: Audience; tools: number; at: string },
) {
  if (audience.count === 0) {
    return (
      <>
        No client is connected to <code class="place">{at}</code> now
      </>
    );
  }
  return (
    <>
      {formatCount(audience.count, "client sees", "clients see")} its {formatCount(tools, "tool")}
      {" "}
      at <code class="place">{at}</code>: <Names audience={audience} />
    </>
  );
}

function Names({ audience: { names, more } }: { audience: Audience }) {
  return (
    <>
      {names.map((name, index) => (
        <span key={name}>
          {index === 0 ? "" : ", "}
          <InertText text={name} />
        </span>
      ))}
      {more > 0 && ` and ${formatCount(more, "other")}`}
    </>
  );
}
