import type { Audience } from "../lib/console/audience.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { toolsetPath, UNEQUIP_TOOLSET } from "../lib/console/ui/paths.ts";
import { Confirm } from "./confirm.tsx";
import { EquipEffect, UnequipEffect } from "./equip_effect.tsx";

interface EquipProps {
  name: string;
  /** How many can be called now. */
  tools: number;
  /** The clients that see what is equipped. */
  audience: Audience;
  /** What is equipped now, if anything is. */
  other?: { name: string; registered: number };
  isPrimary?: boolean;
}

/** Equips; asks first where that takes another one's place. */
export function EquipToolset({ name, tools, audience, other, isPrimary = false }: EquipProps) {
  const action = `${toolsetPath(name)}/equip`;
  if (other === undefined) {
    return (
      <form
        class="above"
        method="post"
        action={action}
        f-client-nav={false}
        data-busy="Equipping…"
      >
        <button type="submit" class={isPrimary ? "button button-primary" : "button"}>
          Equip <span class="visually-hidden">{name}</span>
        </button>
      </form>
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
      It takes the place of <code>{other.name}</code>.{" "}
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
      <UnequipEffect audience={audience} tools={tools} /> The toolset itself and its own door stay.
    </Confirm>
  );
}

interface DeleteProps {
  name: string;
  tools: number;
  isEquipped: boolean;
}

export function DeleteToolset({ name, tools, isEquipped }: DeleteProps) {
  return (
    <Confirm
      id={`delete-${name}`}
      label="Delete"
      subject={name}
      title={`Delete ${name}?`}
      action={`${toolsetPath(name)}/delete`}
      verb="Delete toolset"
      isDangerous
      before={
        // A form, not a link: the popover stays open for what comes next.


          <form method="get" action={`${toolsetPath(name)}/export`} f-client-nav={false}>
            <button type="submit" class="button">Export first</button>
          </form>

      }
    >
      Its choice of {formatCount(tools, "tool")} is lost, and its door{" "}
      <code class="place">/toolsets/{name}/mcp</code> closes.
      {isEquipped && (
        <>
          {" "}It is equipped: clients at <code>/mcp</code> lose its tools at once.
        </>
      )}
    </Confirm>
  );
}
