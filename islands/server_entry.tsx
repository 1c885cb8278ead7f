import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { InertText } from "../components/inert_text.tsx";
import { askRecognized, type Recognized } from "../lib/console/ui/found_servers.ts";

interface ServerEntryProps {
  value: string;
  placeholder: string;
}

const TYPING_MS = 250;
const KINDS: Record<string, string> = {
  address: "An address",
  command: "A command",
  file: "A configuration",
};

/** The field for what is pasted; says what it has recognized before anything is sent. */
export default function ServerEntry({ value, placeholder }: ServerEntryProps) {
  const recognized = useSignal<Recognized | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const asking = useRef<AbortController>();
  useEffect(() => () => {
    clearTimeout(timer.current);
    asking.current?.abort();
  }, []);

  const recognize = async (text: string) => {
    const { signal } = asking.current = new AbortController();
    if (text.trim() === "") return recognized.value = undefined;
    try {
      recognized.value = await askRecognized(text, signal);
    } catch {
      // Nothing is lost: what is wrong is said when the form is sent.
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
          asking.current?.abort();
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
  if ("error" in recognized) {
    return (
      <span class="warning">
        <Icon name="alert" size={14} />
        <span>
          <InertText text={recognized.error.message} />
        </span>
      </span>
    );
  }
  const { kind, servers } = recognized;
  const what = KINDS[kind] ?? "Something";
  const [only] = servers;
  if (servers.length !== 1 || only === undefined) {
    return <>{what} with {servers.length} servers; choose among them in the next step.</>;
  }
  if (only.problem !== undefined) {
    return (
      <span class="warning">
        <Icon name="alert" size={14} />
        <span>
          {what}, but: <InertText text={only.problem} />
        </span>
      </span>
    );
  }
  return (
    <>
      {what}. Unless you give it a name, it will be called{" "}
      <code>
        <InertText text={only.name} />
      </code>.
      {only.notes.map((note) => (
        <span key={note} class="entry-note">
          <InertText text={note} />.
        </span>
      ))}
    </>
  );
}
