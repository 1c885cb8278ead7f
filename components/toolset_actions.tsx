import { formatCount } from "../lib/console/ui/format.ts";
import { toolsetPath, UNEQUIP_TOOLSET } from "../lib/console/ui/paths.ts";
import { Confirm } from "./confirm.tsx";

interface EquipProps {
  name: string;
  /** How many can be called now. */
  tools: number;
  /** What is equipped now, if anything is. */
  other?: { name: string; toolCount: number };
  isPrimary?: boolean;
}

/** Equips; asks first where that takes another one's place. */
export function EquipToolset({ name, tools, other, isPrimary = false }: EquipProps) {
  const action = `${toolsetPath(name)}/equip`;
  if (other === undefined) {
    return (
      <form class="above" method="post" action={action} f-client-nav={false}>
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
      Clients at <code>/mcp</code> see its {formatCount(tools, "tool")} instead of the{" "}
      {formatCount(other.toolCount, "tool")} of {other.name}.
    </Confirm>
  );
}

export function UnequipToolset({ name, tools }: { name: string; tools: number }) {
  return (
    <Confirm
      id={`unequip-${name}`}
      label="Unequip"
      subject={name}
      title={`Unequip ${name}?`}
      action={UNEQUIP_TOOLSET}
      verb="Unequip toolset"
    >
      Clients at <code>/mcp</code> no longer have its {formatCount(tools, "tool")}{" "}
      listed. The toolset itself and its own door stay.
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
