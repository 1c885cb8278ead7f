import type { Audience } from "../(_page)/model.ts";
import { formatCount, formatNumber } from "../../../../lib/console/ui/format.ts";
import { InertText } from "../../../../components/text.tsx";
import { toolsetPath, UNEQUIP_TOOLSET } from "../../../../lib/console/ui/pages.ts";
import { Confirm, PostForm } from "../../../../components/forms.tsx";

interface EquipProps {
  name: string;
  /** How many can be called now. */
  tools: number;
  audience: Audience;
  other?: { name: string; registered: number };
  isPrimary?: boolean;
}

/** Equips; asks first where that takes another one's place. */
export function EquipToolset({ name, tools, audience, other, isPrimary = false }: EquipProps) {
  const action = `${toolsetPath(name)}/equip`;
  if (other === undefined) {
    return (
      <PostForm class="above" action={action} busy="Equipping…">
        <button type="submit" class={isPrimary ? "button button-primary" : "button"}>
          Equip <span class="visually-hidden">{name}</span>
        </button>
      </PostForm>
    );
  }
  return (
    <Confirm
      id={`equip-${name}`}
      label="Equip"
      subject={name}
      title={`Equip ${name}?`}
      action={action}
      verb="Equip toolset"
      isPrimary={isPrimary}
    >
      It replaces <code>{other.name}</code>.{" "}
      <EquipEffect audience={audience} tools={tools} before={other.registered} />
    </Confirm>
  );
}

export function UnequipToolset(
  { name, tools, audience }: { name: string; tools: number; audience: Audience },
) {
  return (
    <Confirm
      id={`unequip-${name}`}
      label="Unequip"
      subject={name}
      title={`Unequip ${name}?`}
      action={UNEQUIP_TOOLSET}
      verb="Unequip toolset"
    >
      {audience.count > 0 ? <EquipEffect audience={audience} tools={0} before={tools} /> : (
        <>
          No client is connected to <code>/mcp</code>{" "}
          now. The next client will see only the gateway's own tools.
        </>
      )} The toolset and its own endpoint stay.
    </Confirm>
  );
}

export function DeleteToolset(
  { name, tools, isEquipped }: { name: string; tools: number; isEquipped: boolean },
) {
  // A form, not a link: the popover stays open for what comes next.
  const exportFirst = (
    <form method="get" action={`${toolsetPath(name)}/export`} f-client-nav={false}>
      <button type="submit" class="button">Export first</button>
    </form>
  );
  return (
    <Confirm
      id={`delete-${name}`}
      label="Delete"
      subject={name}
      title={`Delete ${name}?`}
      action={`${toolsetPath(name)}/delete`}
      verb="Delete toolset"
      isDangerous
      before={exportFirst}
    >
      Its selection of {formatCount(tools, "tool")} is deleted, and its endpoint{" "}
      <code class="place">/toolsets/{name}/mcp</code> closes.
      {isEquipped && (
        <>
          {" "}It is equipped: clients at <code>/mcp</code> lose its tools at once.
        </>
      )}
    </Confirm>
  );
}

/** How many tools the clients will see, and how many they see now. */
export function EquipEffect(
  { audience, tools, before }: { audience: Audience; tools: number; before: number },
) {
  if (audience.count === 0) {
    return (
      <>
        No client is connected to <code>/mcp</code> now. The next client will see{" "}
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
