import {
  CONSENT_DECISIONS,
  type ConsentRow,
  type ConsentsPage,
  consentsPage,
  decidedServer,
} from "./(_page)/model.ts";
import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import { Ago, Day, InertText } from "../../../../components/text.tsx";
import { Card, Fact, Facts } from "../../../../components/layout.tsx";
import { Confirm, PostButton } from "../../../../components/forms.tsx";
import { serverPath } from "../../../../lib/console/ui/pages.ts";
import { EmptyState, Notice } from "../../../../components/states.tsx";
import { SecurityPage } from "../(_components)/page.tsx";
import { formPage } from "../../../../lib/console/form_page.ts";
import { define } from "../../../../lib/console/define.ts";

const PATH = "/security/consents";

export const handler = formPage({
  title: "Consents",
  path: PATH,
  decisions: CONSENT_DECISIONS,
  load: consentsPage,
  after: ({ output }) => decidedServer(output),
});

/** Programs that somebody from elsewhere wants to have run on this machine. */
export default define.page<typeof handler>(function ConsentsPage({ data: page }) {
  const { consents, done, decided, refused } = page;
  return (
    <SecurityPage
      path={PATH}
      live="settings"
      outcome={{ refused }}
      lead="Requests to run programs or connect to local servers on the gateway's machine. Nothing happens until you approve"
    >
      {done !== undefined && decided !== undefined && (
        <Notice tone="ok">
          {decided.isAdded
            ? <a class="mono" href={serverPath(decided.server)}>{decided.server}</a>
            : <span class="mono">{decided.server}</span>} {done}
        </Notice>
      )}
      {consents.length === 0
        ? (
          <EmptyState icon="ready" title="No requests waiting">
            If a client adds a program or a server on this machine, the request appears here with
            its full command line or URL and who sent it.
          </EmptyState>
        )
        : <p class="muted">{formatCount(consents.length, "request")} waiting</p>}
      {consents.map((row) => <ConsentCard key={row.id} row={row} {...page} />)}
    </SecurityPage>
  );
});

const WAYS: Record<ConsentRow["origin"]["via"], string> = {
  mcp: "an MCP client",
  api: "the API",
  console: "the console",
  cli: "the command line",
};

interface ConsentCardProps extends Pick<ConsentsPage, "canAgree" | "isByCommandOnly"> {
  row: ConsentRow;
}

/** One request, with everything that determines what it does, and who sent it. */
function ConsentCard({ row, canAgree, isByCommandOnly }: ConsentCardProps) {
  const { id, wish, server, argv, url, variables, secrets, origin, problem } = row;
  const { folder, isolation = "none: it can do anything your user can do" } = row;
  const title = wish === "add" ? `Add the server ${server}` : `Change the server ${server}`;
  return (
    <Card title={title} aside={<Ago at={row.askedAt} />}>
      <div class="stack consent" id={`consent-${id}`}>
        {url === undefined ? <Program argv={argv} /> : (
          <p>
            Connects to <InertText as="code" class="place" text={url} />
            , on this machine.
          </p>
        )}
        <Facts>
          {url === undefined && (
            <Fact name="Folder">
              {folder === undefined ? "The gateway's own" : <InertText as="code" text={folder} />}
            </Fact>
          )}
          {url === undefined && (
            <Fact name="Isolation">
              <InertText text={isolation} />
            </Fact>
          )}
          <Fact name={url === undefined ? "Variables" : "Headers"}>
            {variables.length === 0 ? "none" : (
              <ul class="consent-words">
                {variables.map(({ name, value }) => (
                  <li key={name}>
                    <InertText as="code" text={value === undefined ? name : `${name}=${value}`} />
                  </li>
                ))}
              </ul>
            )}
          </Fact>
          {secrets.length > 0 && <Fact name="Secrets it receives">{secrets.join(", ")}</Fact>}
          <Fact name="Requested by">
            <span>
              <InertText text={row.who} />, through {WAYS[origin.via]}{" "}
              {origin.from !== undefined && <InertText text={`(${origin.from})`} />}
            </span>
          </Fact>
          <Fact name="Expires">
            <Day at={row.expiresAt} />
          </Fact>
        </Facts>
        {problem === undefined ? null : <InertText as="p" class="notice tone-bad" text={problem} />}
        {canAgree ? null : (
          <p class="muted small">
            {isByCommandOnly
              ? "This gateway has a public URL, so the console cannot tell who is at its machine. To approve, run this on that machine:"
              : "To approve, open this page on the gateway's own machine, or run this there:"}{" "}
            <code>quartermaster consent approve {id}</code>
          </p>
        )}
        <div class="form-actions">
          {canAgree && problem === undefined && <Agree row={row} />}
          <PostButton
            action={PATH}
            busy="Refusing…"
            fields={{ action: "refuse", id }}
            label="Refuse"
            subject={server}
          />
        </div>
      </div>
    </Card>
  );
}

function Program({ argv }: Pick<ConsentRow, "argv">) {
  return (
    <ol class="consent-argv mono" aria-label="The program and its arguments">
      {argv.map((word, index) => (
        <li key={index}>
          <code>
            {word === "" ? <span class="muted">(empty)</span> : <InertText text={word} />}
          </code>
        </li>
      ))}
    </ol>
  );
}

function Agree({ row: { id, server, argv, url } }: { row: ConsentRow }) {
  const fields = { action: "approve", id };
  // Connecting runs no program, so one click is enough.
  if (url !== undefined) {
    return (
      <PostButton
        action={PATH}
        busy="Connecting…"
        fields={fields}
        kind="primary"
        label="Approve and connect"
        subject={server}
      />
    );
  }
  return (
    <Confirm
      id={`agree-${id}`}
      label="Approve and start"
      subject={server}
      title={`Run this program as ${server}?`}
      action={PATH}
      fields={fields}
      verb="Run it"
      busy="Starting…"
      isDangerous
    >
      <code>{inertString(argv[0] ?? "")}</code>{" "}
      runs on this machine with all your user's permissions, now and every time the gateway starts.
      Approve only if you know what every argument does.
    </Confirm>
  );
}
