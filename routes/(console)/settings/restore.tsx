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
        lead="The file is checked first, then restored when the gateway restarts"
      />
      {page.refused === undefined
        ? null
        : <FormFailure error={page.refused} title="Nothing was changed" />}
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
        The backup could not be restored when the gateway started, and the data store is unchanged:
        {" "}
        <InertText text={applied.problem} />. The gateway will try again when it next starts.
      </Notice>
    );
  }
  const kept = applied.before ?? applied.movedTo;
  return (
    <Notice tone="ok">
      When the gateway started, it restored a backup with {formatCount(applied.entries, "record")}
      {" "}
      from <Ago at={Date.parse(applied.createdAt)} />.
      {kept === undefined ? null : (
        <>
          {" "}The previous data is saved in <span class="mono place">{kept}</span>{" "}
          <CopyButton value={kept} label="Copy path of the previous data" />
        </>
      )}
    </Notice>
  );
}

function Staged({ page: { staged, place } }: { page: RestorePage }) {
  if (staged === undefined) return null;
  return (
    <Card title="Waiting for restart">
      <div class="stack">
        <Notice tone="warn">
          The backup from <Ago at={Date.parse(staged.createdAt)} /> with{" "}
          {formatCount(staged.entries, "record")} replaces <span class="mono place">{place}</span>
          {" "}
          when the gateway restarts. Changes made until then are replaced too; a backup of them is
          saved next to the data store.
        </Notice>
        <p>Stop every gateway that uses this data store, then start one of them.</p>
        <PostButton
          action={RESTORE_BACKUP}
          busy="Canceling…"
          fields={{ step: "undo" }}
          label="Cancel restore"
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
    <Card title="Backup is valid" aside={formatCount(backup.entries, "record")}>
      <div class="stack">
        <p>
          Created <Ago at={Date.parse(backup.createdAt)} />, schema version {backup.schemaVersion}.
        </p>
        <Table
          class="restore-table"
          caption="Contents of the backup and of the data store"
          columns={["Records", ["In the backup", "number"], ["In the data store", "number"]]}
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
            label="Restore at next start"
            subject="this backup"
            title="Replace everything in the data store?"
            action={RESTORE_BACKUP}
            fields={{ step: "confirm", id: backup.id }}
            verb="Replace at next start"
            busy="Saving…"
            isDangerous
            isPrimary
          >
            <span class="mono place">{place}</span> is replaced when the gateway restarts
            {replaced.length === 0 ? "" : `, with its ${replaced.join(", ")}`}{" "}
            and everything else in it. Servers in config files stay. You can cancel until then, and
            a backup of the current data is saved.
          </Confirm>
          <PostButton
            action={RESTORE_BACKUP}
            busy="Removing…"
            fields={{ step: "discard" }}
            label="Discard this file"
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
          hint="A file downloaded under Settings or created with the command line, up to 64 MiB. Choosing a file does not replace anything yet."
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
            ? "A backup replaces all data, so it can be restored only on the gateway's own machine. Open the console at its local URL (not possible with --public-url), or stop the gateway and run:"
            : "The data store is not a file on this machine, so the gateway cannot replace it when it starts. Stop every gateway that uses it, then run:"}
        </p>
        <CodeBlock code="quartermaster restore FILE" label="command to restore" />
      </div>
    </Card>
  );
}
