import { page } from "fresh";
import { BusyForms } from "../../../islands/forms.tsx";
import { changeRestore, type RestorePage, restorePage, takeBackup } from "./(_page)/data.ts";
import { formatCount, formatNumber } from "../../../lib/console/ui/format.ts";
import { RESTORE_BACKUP } from "../../../lib/console/ui/pages.ts";
import { Ago, CodeBlock, CopyButton, InertText } from "../../../components/text.tsx";
import { Card, PageHeader } from "../../../components/layout.tsx";
import { Confirm, Field, FormFailure, PostButton, PostForm } from "../../../components/forms.tsx";
import { Table } from "../../../components/tables.tsx";
import { Notice } from "../../../components/states.tsx";
import { define, formOf } from "../../../lib/console/define.ts";
import { formError, submitForm } from "../../../lib/console/errors.ts";
import { isFromThisMachine } from "../../../lib/http/request_origin.ts";
import { isUpload, MAX_BACKUP_BYTES, readUpload } from "../../../lib/http/request_body.ts";

export const handler = define.handlers({ GET: ["read"], POST: ["manage"] }, {
  async GET(ctx) {
    const { gateway } = ctx.state;
    ctx.state.title = "Restore a backup";
    const isHere = isFromThisMachine(ctx);
    return page<RestorePage>(await restorePage(gateway, isHere));
  },

  async POST(ctx) {
    ctx.state.title = "Restore a backup";
    const { gateway } = ctx.state;
    const isHere = isFromThisMachine(ctx);
    return await submitForm<RestorePage>(ctx, async () => {
      if (isUpload(ctx.req)) {
        await takeBackup(gateway, await readUpload(ctx.req, "backup", MAX_BACKUP_BYTES), isHere);
      } else {
        await changeRestore(gateway, await formOf(ctx), isHere);
      }
      return RESTORE_BACKUP;
    }, async (error) => ({ ...await restorePage(gateway, isHere), refused: formError(error) }));
  },
});

/** Puts a backup in place of the data store, in steps that can each be taken back. */
export default define.page<typeof handler>(function RestorePage({ data: page }) {
  return (
    <div class="stack">
      <BusyForms />
      <PageHeader
        title="Restore a backup"
        lead="It is checked first, and put in place when the gateway is started again"
      />
      {page.refused === undefined
        ? null
        : <FormFailure error={page.refused} title="Nothing is changed" />}
      {page.applied === undefined ? null : <Applied applied={page.applied} />}
      {page.possible === "here"
        ? (
          <>
            <Staged page={page} />
            <Checked page={page} />
            <ChooseFile isFirst={page.checked === undefined} />
          </>
        )
        : <ElsewhereCard possible={page.possible} />}
    </div>
  );
});

/** What the last start did with a backup that waited for it. */
function Applied({ applied }: Required<Pick<RestorePage, "applied">>) {
  if (!applied.ok) {
    return (
      <Notice tone="bad" role="status">
        The backup could not be put in place at this start, and the store is as it was:{" "}
        <InertText text={applied.problem} />. The next start tries again.
      </Notice>
    );
  }
  const kept = applied.before ?? applied.movedTo;
  return (
    <Notice tone="ok">
      At this start a backup with {formatCount(applied.entries, "record")} of{" "}
      <Ago at={Date.parse(applied.createdAt)} /> was put in place.
      {kept === undefined ? null : (
        <>
          {" "}What was there before is kept in <span class="mono place">{kept}</span>{" "}
          <CopyButton value={kept} label="Copy the path of what was there before" />
        </>
      )}
    </Notice>
  );
}

function Staged({ page: { staged, place } }: { page: RestorePage }) {
  if (staged === undefined) return null;
  return (
    <Card title="Waits for the next start">
      <div class="stack">
        <Notice tone="warn">
          The backup of <Ago at={Date.parse(staged.createdAt)} /> with{" "}
          {formatCount(staged.entries, "record")} replaces <span class="mono place">{place}</span>
          {" "}
          when the gateway is started again. What is changed until then is replaced too; it is kept
          as a backup beside the store.
        </Notice>
        <p>Stop every gateway that uses this store, then start one of them.</p>
        <PostButton
          action={RESTORE_BACKUP}
          busy="Taking back…"
          fields={{ step: "undo" }}
          label="Do not restore it"
        />
      </div>
    </Card>
  );
}

function Checked({ page: { checked, place = "" } }: { page: RestorePage }) {
  if (checked === undefined) return null;
  const { backup, rows, others, sealed } = checked;
  const replaced = rows.filter(({ here }) => here > 0)
    .map(({ what, here }) => `${formatNumber(here)} ${what.toLowerCase()}`);
  return (
    <Card title="Checked, and whole" aside={formatCount(backup.entries, "record")}>
      <div class="stack">
        <p>
          Made <Ago at={Date.parse(backup.createdAt)} />, with schema version{" "}
          {backup.schemaVersion}.
        </p>
        <Table
          class="restore-table"
          caption="What the backup holds, and what is here"
          columns={["What", ["In the backup", "number"], ["In the store now", "number"]]}
        >
          {rows.map(({ what, inBackup, here }) => (
            <tr key={what}>
              <td>{what}</td>
              <td class="number">{formatNumber(inBackup)}</td>
              <td class="number">{formatNumber(here)}</td>
            </tr>
          ))}
          <tr>
            <td>Other records, such as calls and evaluation runs</td>
            <td class="number">{formatNumber(others)}</td>
            <td class="number muted">not counted</td>
          </tr>
        </Table>
        {sealed.map((text) => (
          <Notice key={text} tone="warn" role={null}>
            <InertText text={text} />
          </Notice>
        ))}
        <div class="form-actions">
          <Confirm
            id="restore-backup"
            label="Restore at the next start"
            subject="this backup"
            title="Replace everything in the data store?"
            action={RESTORE_BACKUP}
            fields={{ step: "confirm", id: backup.id }}
            verb="Replace at the next start"
            busy="Setting down…"
            isDangerous
            isPrimary
          >
            <span class="mono place">{place}</span> is replaced when the gateway is started again
            {replaced.length === 0 ? "" : `, with its ${replaced.join(", ")}`}{" "}
            and all else in it. Servers in config files stay. It can be taken back until then, and
            what was there is kept as a backup.
          </Confirm>
          <PostButton
            action={RESTORE_BACKUP}
            busy="Forgetting…"
            fields={{ step: "discard" }}
            label="Forget this file"
          />
        </div>
      </div>
    </Card>
  );
}

function ChooseFile({ isFirst }: { isFirst: boolean }) {
  return (
    <Card title="Choose a backup">
      <PostForm class="form" action={RESTORE_BACKUP} encType="multipart/form-data" busy="Checking…">
        <Field
          id="backup"
          label="Backup file"
          hint="As downloaded under Settings or made with the command line; at most 64 MiB. Nothing is replaced by choosing it."
        >
          <input
            id="backup"
            class="input"
            type="file"
            name="backup"
            required
            aria-describedby="backup-hint"
          />
        </Field>
        <div class="form-actions">
          <button type="submit" class={isFirst ? "button button-primary" : "button"}>
            Check the file
          </button>
          <a class="button" href="/settings">Back to settings</a>
        </div>
      </PostForm>
    </Card>
  );
}

function ElsewhereCard({ possible }: { possible: "elsewhere" | "no-file" }) {
  return (
    <Card>
      <div class="stack">
        <p>
          {possible === "elsewhere"
            ? "A backup replaces everything, so it can be restored only on the gateway's own machine: at its local address, unless it has a --public-url, or with the gateway stopped, by running:"
            : "The data store is not a file on this machine, so the gateway cannot replace it at its start. Stop every gateway that uses it, then run:"}
        </p>
        <CodeBlock code="quartermaster restore FILE" label="command to restore" />
      </div>
    </Card>
  );
}
