import type { ConsentRow } from "../lib/console/security_consents.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { Confirm } from "./confirm.tsx";
import { Fact, Facts } from "./facts.tsx";
import { InertText } from "./inert_text.tsx";

const WAYS: Record<ConsentRow["origin"]["via"], string> = {
  mcp: "an MCP client",
  api: "the API",
  console: "the console",
  cli: "the command line",
};

interface ConsentCardProps {
  row: ConsentRow;
  canAgree: boolean;
  isByCommandOnly: boolean;
  /** Where its forms go. */
  action: string;
}

/** One program with all that decides what it does, and who wants it. */
export function ConsentCard({ row, canAgree, isByCommandOnly, action }: ConsentCardProps) {
  const { id, wish, server, argv, variables, secrets, folder, origin, problem } = row;
  const title = wish === "add" ? `Add the server ${server}` : `Change the server ${server}`;
  return (
    <Card title={title} aside={<Ago at={row.askedAt} />}>
      <div class="stack consent" id={`consent-${id}`}>
        <ol class="consent-argv mono" aria-label="The program and its arguments">
          {argv.map((word, index) => (
            <li key={index}>
              <code>
                {word === "" ? <span class="muted">(empty)</span> : <InertText text={word} />}
              </code>
            </li>
          ))}
        </ol>
        <Facts>
          <Fact name="Folder">
            {folder === undefined ? "The gateway's own" : (
              <code>
                <InertText text={folder} />
              </code>
            )}
          </Fact>
          <Fact name="Variables">
            {variables.length === 0 ? "none of its own" : (
              <ul class="consent-words">
                {variables.map(({ name, value }) => (
                  <li key={name}>
                    <code>
                      <InertText text={value === undefined ? name : `${name}=${value}`} />
                    </code>
                  </li>
                ))}
              </ul>
            )}
          </Fact>
          {secrets.length > 0 && <Fact name="Secrets it gets">{secrets.join(", ")}</Fact>}
          <Fact name="Asked for by">
            <span>
              <InertText text={row.who} />, through {WAYS[origin.via]}
              {origin.from === undefined ? null : (
                <>
                  {" "}
                  (<InertText text={origin.from} />)
                </>
              )}
            </span>
          </Fact>
          <Fact name="Kept until">
            <time dateTime={new Date(row.expiresAt).toISOString()}>
              {new Date(row.expiresAt).toISOString().slice(0, 10)}
            </time>
          </Fact>
        </Facts>
        {problem === undefined ? null : (
          <p class="notice tone-bad">
            <InertText text={problem} />
          </p>
        )}
        {canAgree ? null : (
          <p class="muted small">
            {isByCommandOnly
              ? "This gateway is reached through a proxy, where nobody can tell who sits at its machine. To agree, run on the machine itself:"
              : "To agree, open this page on the gateway's own machine, or run there:"}{" "}
            <code>deno task cli consent approve {id}</code>
          </p>
        )}
        <div class="form-actions">
          {canAgree && problem === undefined && <Agree row={row} action={action} />}
          <form method="post" action={action} f-client-nav={false} data-busy="Refusing…">
            <input type="hidden" name="decision" value="refuse" />
            <input type="hidden" name="id" value={id} />
            <button type="submit" class="button">
              Refuse <span class="visually-hidden">{server}</span>
            </button>
          </form>
        </div>
      </div>
    </Card>
  );
}

function Agree({ row: { id, server, argv }, action }: { row: ConsentRow; action: string }) {
  return (
    <Confirm
      id={`agree-${id}`}
      label="Agree and start"
      subject={server}
      title={`Run this program as ${server}?`}
      action={action}
      fields={{ decision: "approve", id }}
      verb="Run it"
      busy="Starting…"
      isDangerous
    >
      <code>{inertString(argv[0] ?? "")}</code>{" "}
      runs on this machine with all that your user may do, now and at every start of the gateway.
      Agree only if you know what every argument does.
    </Confirm>
  );
}
