import BusyForms from "../islands/busy_forms.tsx";
import type { ProjectRow, ProjectsPage } from "../lib/console/security_projects.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { Card } from "./card.tsx";
import { Confirm } from "./confirm.tsx";
import { EmptyState } from "./empty_state.tsx";
import { FormCard } from "./form_card.tsx";
import { FormFailure } from "./form_failure.tsx";
import { InertText } from "./inert_text.tsx";
import { DescriptionField, NameField, PLAIN_NAME } from "./name_field.tsx";
import { Notice } from "./notice.tsx";
import { PageHeader } from "./page_header.tsx";
import { SecurityTabs } from "./security_tabs.tsx";

const PATH = "/security/projects";

/** All projects with their servers, and the form for another. */
export function Projects({ page }: { page: ProjectsPage }) {
  const { projects, shared, done, error } = page;
  return (
    <>
      <BusyForms />
      <PageHeader
        title="Projects"
        lead="A server that is assigned to projects exists in them alone; one in none is in all"
        action={<a class="button button-primary" href="#new-project">New project</a>}
      />
      <SecurityTabs current={PATH} />
      {done === undefined ? null : <Notice tone="ok">{done}</Notice>}
      {error === undefined ? null : <FormFailure error={error} title="Nothing is changed" />}
      {projects.length > 0
        ? projects.map((project) => (
          <ProjectCard key={project.name} project={project} isOnly={projects.length === 1} />
        ))
        : (
          <EmptyState icon="toolsets" title="No projects yet">
            A project keeps servers apart: who works in it does not see those of others. A token can
            be for one project alone; else a client names one with <code>?project=</code>{" "}
            at the door's address.
          </EmptyState>
        )}
      {projects.length > 0 && shared.length > 0 && (
        <p class="muted small">In all projects: {shared.join(", ")}.</p>
      )}
      <NewProject draft={page.draft} />
    </>
  );
}

function ProjectCard({ project, isOnly }: { project: ProjectRow; isOnly: boolean }) {
  const { name, description, servers, versionstamp, choices, tokens } = project;
  const id = `project-${name}`;
  return (
    <Card
      title={name}
      aside={`${formatCount(servers.length, "server")}, ${formatCount(tokens.length, "token")}`}
    >
      <div class="stack">
        {description !== "" && (
          <p>
            <InertText text={description} />
          </p>
        )}
        <form
          id={id}
          method="post"
          action={PATH}
          f-client-nav={false}
          data-busy="Saving…"
          class="form"
        >
          <input type="hidden" name="change" value="save" />
          <input type="hidden" name="name" value={name} />
          <input type="hidden" name="description" value={description} />
          <input type="hidden" name="versionstamp" value={versionstamp} />
          <fieldset class="rights">
            <legend>
              Servers <span class="visually-hidden">of {name}</span>
            </legend>
            {choices.length === 0
              ? <p class="muted">There are no servers yet.</p>
              : (
                <div class="server-choices">
                  {choices.map((server) => (
                    <label key={server.name} class="check">
                      <input
                        type="checkbox"
                        name="server"
                        value={server.name}
                        checked={server.isAssigned}
                      />
                      <span class="mono">{server.name}</span>
                      {server.isGone && <span class="muted small">not here at present</span>}
                    </label>
                  ))}
                </div>
              )}
          </fieldset>
        </form>
        {tokens.length > 0 && (
          <p class="muted small">
            For it alone: {tokens.map((token, index) => (
              <span key={token}>
                {index > 0 && ", "}
                <InertText text={token} />
              </span>
            ))}
          </p>
        )}
        <div class="project-actions">
          <button type="submit" form={id} class="button button-primary">
            Save <span class="visually-hidden">{name}</span>
          </button>
          <Confirm
            id={`${id}-delete`}
            label="Delete"
            subject={name}
            title={`Delete ${name}?`}
            action={PATH}
            fields={{ change: "delete", name }}
            verb="Delete project"
            busy="Deleting…"
            isDangerous
          >
            {tokens.length > 0
              ? `${formatCount(tokens.length, "token")} for it alone must be revoked first.`
              : servers.length === 0
              ? "It has no servers."
              : isOnly
              ? `Its ${formatCount(servers.length, "server")} can be seen outside it then.`
              : "Servers that no other project has must be taken out of it first: they would be in all others."}
          </Confirm>
        </div>
      </div>
    </Card>
  );
}

function NewProject({ draft }: Pick<ProjectsPage, "draft">) {
  return (
    <FormCard id="new-project" title="New project" action={PATH} busy="Making…">
      <input type="hidden" name="change" value="create" />
      <NameField
        id="project-name"
        name="name"
        label="Name"
        hint="Letters, digits, _ and -."
        value={draft.name}
        pattern={PLAIN_NAME}
        title="1 to 64 letters, digits, _ or -"
        maxLength={64}
        isRequired
      />
      <DescriptionField id="project-description" value={draft.description} maxLength={400} />
      <div class="form-actions">
        <button type="submit" class="button button-primary">Make project</button>
      </div>
    </FormCard>
  );
}
