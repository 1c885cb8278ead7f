import { page } from "fresh";
import {
  type ConsentRow,
  type ConsentsPage,
  consentsPage,
  decideConsent,
} from "./(_page)/model.ts";
import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import { Ago, InertText } from "../../../../components/text.tsx";
import { Card, Fact, Facts, PageHeader } from "../../../../components/layout.tsx";
import { Confirm, FormFailure, PostForm } from "../../../../components/forms.tsx";
import { BusyForms } from "../../../../islands/forms.tsx";
import { serverPath } from "../../../../lib/console/ui/pages.ts";
import { EmptyState, Notice } from "../../../../components/states.tsx";
import { SecurityTabs } from "../(_components)/tabs.tsx";
import { callOf } from "../../../../lib/console/api.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { submitForm } from "../../../../lib/console/errors.ts";

export const handler = define.handlers<ConsentsPage>(
  { GET: ["read", "manage"], POST: ["manage"] },
  {
    async GET(ctx) {
      ctx.state.title = "Consents";
      const { gateway } = ctx.state;
      return page(
        await consentsPage(gateway, callOf(ctx, "console"), ctx.url.searchParams),
      );
    },

    async POST(ctx) {
      ctx.state.title = "Consents";
      const { gateway } = ctx.state;
      const call = callOf(ctx, "console");
      const form = await formOf(ctx);
      return await submitForm(
        ctx,
        async () => `${PATH}?${await decideConsent(gateway, form, call)}`,
        (error) => consentsPage(gateway, call, undefined, error),
      );
    },
  },
);

/** Programs that somebody from elsewhere wants to have run on this machine. */
export default define.page<typeof handler>(function ConsentsPage({ data: page }) {
  const { consents, canAgree, isByCommandOnly, done, error } = page;
  return (
    <div class="stack" data-live="settings">
      <BusyForms />
      <PageHeader
        title="Consents"
        lead="Programs and local servers that others want to add on the gateway's machine. Nothing happens until you approve"
      />
      <SecurityTabs current={PATH} />
      {done === undefined ? null : <Done done={done} />}
      {error === undefined ? null : <FormFailure error={error} title="Nothing was started" />}
      {consents.length === 0
        ? (
          <EmptyState icon="ready" title="No requests waiting">
            If a client adds a program or a server on this machine, the request appears here with
            its full command line or URL and who sent it.
          </EmptyState>
        )
        : (
          <>
            <p class="muted">{formatCount(consents.length, "request")} waiting</p>
            {consents.map((row) => (
              <ConsentCard
                key={row.id}
                row={row}
                canAgree={canAgree}
                isByCommandOnly={isByCommandOnly}
              />
            ))}
          </>
        )}
    </div>
  );
});

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
}

/** One request, with everything that determines what it does, and who sent it. */
function ConsentCard({ row, canAgree, isByCommandOnly }: ConsentCardProps) {
  const { id, wish, server, argv, url, variables, secrets, folder, origin, problem } = row;
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
          {canAgree && problem === undefined && (
            url === undefined ? <Agree row={row} /> : <AllowAddress row={row} />
          )}
          <PostForm action={PATH} busy="Refusing…" fields={{ decision: "refuse", id }}>
            <button type="submit" class="button">
              Refuse <span class="visually-hidden">{server}</span>
            </button>
          </PostForm>
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

/** Connecting runs no program, so one click is enough. */
function AllowAddress({ row: { id, server } }: { row: ConsentRow }) {
  return (
    <PostForm action={PATH} busy="Connecting…" fields={{ decision: "approve", id }}>
      <button type="submit" class="button button-primary">
        Allow and connect <span class="visually-hidden">{server}</span>
      </button>
    </PostForm>
  );
}

function Agree({ row: { id, server, argv } }: { row: ConsentRow }) {
  return (
    <Confirm
      id={`agree-${id}`}
      label="Agree and start"
      subject={server}
      title={`Run this program as ${server}?`}
      action={PATH}
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

const PATH = "/security/consents";

function Done({ done: { decision, server } }: { done: NonNullable<ConsentsPage["done"]> }) {
  return (
    <Notice tone="ok">
      {decision === "approve"
        ? (
          <>
            <a class="mono" href={serverPath(server)}>{server}</a>{" "}
            was started. It is not trusted: changes to its tools wait for your review.
          </>
        )
        : (
          <>
            <span class="mono">{server}</span> was refused. Nothing was started.
          </>
        )}
    </Notice>
  );
}
