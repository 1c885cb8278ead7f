import { useSignal } from "@preact/signals";
import { FoundServerRow } from "../components/found_server.tsx";
import { askToAdd, type FoundServer } from "../lib/console/ui/found_servers.ts";
import { NEW_SERVER } from "../lib/console/ui/paths.ts";

interface FoundServersProps {
  /** What was pasted. */
  text: string;
  servers: FoundServer[];
}

const AT_ONCE = 3;

/** Adds the chosen ones of several servers, and shows of each how it fares. */
export default function FoundServers({ text, servers: first }: FoundServersProps) {
  const servers = useSignal(first);
  const busy = useSignal<string[]>([]);
  const chosen = servers.value.filter(({ isChosen }) => isChosen);
  const isWorking = busy.value.length > 0;

  const change = (name: string, change: Partial<FoundServer>) => {
    servers.value = servers.value.map((server) =>
      server.name === name ? { ...server, ...change } : server
    );
  };

  const add = async (name: string) => {
    const outcome = await askToAdd(text, name);
    change(name, { outcome, isChosen: !outcome.ok });
    busy.value = busy.value.filter((other) => other !== name);
  };

  const addAll = async () => {
    const waiting = chosen.map(({ name }) => name);
    busy.value = [...waiting];
    const work = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await add(name);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };

  return (
    <form
      method="post"
      action={NEW_SERVER}
      f-client-nav={false}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWorking) void addAll();
      }}
    >
      <textarea name="entry" class="visually-hidden" hidden value={text} />
      <input type="hidden" name="choosing" value="true" />
      <ul class="rows">
        {servers.value.map((server) => (
          <FoundServerRow
            key={server.name}
            server={server}
            isBusy={busy.value.includes(server.name)}
            onChoose={(isChosen) => change(server.name, { isChosen })}
          />
        ))}
      </ul>
      <div class="card-foot">
        <button
          type="submit"
          class="button button-primary"
          disabled={isWorking || (chosen.length === 0 && servers.value !== first)}
        >
          {isWorking
            ? "Connecting…"
            : chosen.length === 1
            ? "Add 1 server"
            : `Add ${chosen.length} servers`}
        </button>
        <span class="muted small">Each is connected to first; what fails is not stored.</span>
      </div>
    </form>
  );
}
