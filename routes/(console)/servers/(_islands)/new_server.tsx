import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { StateLabel } from "../../../../components/badges.tsx";
import { FormFailure, PostForm } from "../../../../components/forms.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { InertText } from "../../../../components/text.tsx";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { NEW_SERVER, serverStep } from "../../../../lib/console/ui/pages.ts";
import {
  fetchRecognized,
  type FoundServer,
  type Recognized,
  requestImport,
} from "../(_page)/browser.ts";
import "../../../../islands/frame.tsx";
// For fewer scripts: frame.tsx says how.

const TYPING_MS = 250;
const KINDS: Record<string, string> = {
  address: "A URL",
  command: "A command",
  file: "A configuration",
};

/** The field for a pasted entry; shows what was recognized before the form is sent. */
export function ServerEntry({ value, placeholder }: { value: string; placeholder: string }) {
  const recognized = useSignal<Recognized | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const request = useRef<AbortController>();
  useEffect(() => () => {
    clearTimeout(timer.current);
    request.current?.abort();
  }, []);

  const recognize = async (text: string) => {
    const { signal } = request.current = new AbortController();
    if (text.trim() === "") return recognized.value = undefined;
    try {
      recognized.value = await fetchRecognized(text, signal);
    } catch {
      // The form reports the problem when it is sent.
      if (!signal.aborted) recognized.value = undefined;
    }
  };

  return (
    <>
      <textarea
        id="entry"
        name="entry"
        class="input mono entry-input"
        rows={4}
        required
        autocapitalize="off"
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        aria-describedby="entry-hint entry-found"
        defaultValue={value}
        onInput={(event) => {
          const text = event.currentTarget.value;
          clearTimeout(timer.current);
          request.current?.abort();
          timer.current = setTimeout(() => recognize(text), TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <p id="entry-found" class="entry-found small" role="status">
        <Found recognized={recognized.value} />
      </p>
    </>
  );
}

function Found({ recognized }: { recognized: Recognized | undefined }) {
  if (recognized === undefined) return null;
  if ("error" in recognized) return <Warning text={recognized.error.message} />;
  const { kind, servers } = recognized;
  const what = KINDS[kind] ?? "Something";
  const [only] = servers;
  if (servers.length !== 1 || only === undefined) {
    return <>{what} with {servers.length} servers; you can choose which to add in the next step.</>;
  }
  if (only.problem !== undefined) return <Warning before={`${what}, but: `} text={only.problem} />;
  return (
    <>
      {what}. Default name: <InertText as="code" text={only.name} />.
      {only.notes.map((note) => (
        <span key={note} class="entry-note">
          <InertText text={note} />.
        </span>
      ))}
    </>
  );
}

function Warning({ before, text }: { before?: string; text: string }) {
  return (
    <span class="warning">
      <Icon name="alert" size={14} />
      <span>
        {before}
        <InertText text={text} />
      </span>
    </span>
  );
}

const AT_ONCE = 3;

export function FoundServers(
  { text, servers: first }: { text: string; servers: FoundServer[] },
) {
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
    const outcome = await requestImport(text, name);
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
    <PostForm
      action={NEW_SERVER}
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
          {isWorking ? "Connecting…" : `Add ${formatCount(chosen.length, "server")}`}
        </button>
        <span class="muted small">
          The gateway tests each connection; servers that fail are not saved.
        </span>
      </div>
    </PostForm>
  );
}

interface FoundServerRowProps {
  server: FoundServer;
  isBusy: boolean;
  onChoose(isChosen: boolean): void;
}

function FoundServerRow({ server, isBusy, onChoose }: FoundServerRowProps) {
  const { name, line, problem, notes, isChosen, outcome } = server;
  const isDone = outcome?.ok === true;
  return (
    <li class="row found-server">
      <label class="found-head">
        <input
          type="checkbox"
          name="server"
          value={name}
          checked={isChosen}
          disabled={problem !== undefined || isDone || isBusy}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
        <span class="found-text">
          <InertText as="span" class="mono strong" text={name} />
          <InertText as="span" class="mono small muted break" text={line} />
        </span>
        <span class="found-state" role="status">
          {isBusy
            ? <StateLabel tone="info" icon="pending">Connecting…</StateLabel>
            : isDone && <StateLabel tone="ok" icon="ready">{outcome.text}</StateLabel>}
        </span>
      </label>
      {isDone && <a class="found-more" href={serverStep(name, "tools")}>Configure tools</a>}
      {problem !== undefined && (
        <InertText as="p" class="found-more small tone-warn" text={problem} />
      )}
      {notes.map((note) => (
        <InertText key={note} as="p" class="found-more small muted" text={note} />
      ))}
      {outcome?.ok === false && (
        <div class="found-more">
          <FormFailure error={outcome.error} />
        </div>
      )}
    </li>
  );
}
