import { page } from "fresh";
import { BusyForms } from "../../../../islands/forms.tsx";
import {
  changeProjects,
  type ProjectRow,
  type ProjectsPage,
  projectsPage,
} from "./(_page)/model.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { Card, PageHeader } from "../../../../components/layout.tsx";
import {
  Confirm,
  DescriptionField,
  FormCard,
  FormFailure,
  NameField,
  PLAIN_NAME,
  PostForm,
} from "../../../../components/forms.tsx";
import { EmptyState, Notice } from "../../../../components/states.tsx";
import { InertText } from "../../../../components/text.tsx";
import { SecurityTabs } from "../(_components)/tabs.tsx";
import { callOf } from "../../../../lib/console/api.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { submitForm } from "../../../../lib/console/errors.ts";

export const handler = define.handlers<ProjectsPage>(
  { GET: ["read", "manage"], POST: ["manage"] },
  {
    async GET(ctx) {
      ctx.state.title = "Projects";
      return page(await projectsPage(ctx.state.gateway, ctx.url.searchParams));
    },

    async POST(ctx) {
      ctx.state.title = "Projects";
      const { gateway } = ctx.state;
      const form = await formOf(ctx);
      return await submitForm(
        ctx,
        async () => `${PATH}?done=${await changeProjects(gateway, form, callOf(ctx, "console"))}`,
        (error) => projectsPage(gateway, form, error),
      );
    },
  },
);

/** All projects with their servers, and the form for another. */
export default define.page<typeof handler>(function ProjectsPage({ data: page }) {
  const { projects, shared, done, error } = page;
  // Not live: what is ticked and not saved yet must not be replaced.
  return (
    <div class="stack">
      <BusyForms />
      <PageHeader
        title="Projects"
        lead="A server assigned to projects exists only in them; a server in none is in all"
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
            A project keeps servers apart: clients in it do not see servers of other projects. Bind
            a token to one project, or add <code>?project=</code> to the endpoint's URL.
          </EmptyState>
        )}
      {projects.length > 0 && shared.length > 0 && (
        <p class="muted small">In all projects: {shared.join(", ")}.</p>
      )}
      <NewProject draft={page.draft} />
    </div>
  );
});

const PATH = "/security/projects";

function ProjectCard({ project, isOnly }: { project: ProjectRow; isOnly: boolean }) {
  const { name, description, servers, versionstamp, choices, tokens } = project;
  const id = `project-${name}`;
  return (
    <Card
      title={name}
      aside={`${formatCount(servers.length, "server")}, ${formatCount(tokens.length, "token")}`}
    >
      <div class="stack">
        {description !== "" && <InertText as="p" text={description} />}
        <PostForm
          id={id}
          action={PATH}
          busy="Saving…"
          class="form"
          fields={{ change: "save", name, description, versionstamp }}
        >
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
                      {server.isGone && <span class="muted small">not configured now</span>}
                    </label>
                  ))}
                </div>
              )}
          </fieldset>
        </PostForm>
        {tokens.length > 0 && (
          <p class="muted small">
            Tokens bound to it: {tokens.map((token, index) => (
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
              ? `${formatCount(tokens.length, "token")} bound to it must be revoked first.`
              : servers.length === 0
              ? "It has no servers."
              : isOnly
              ? `Its ${formatCount(servers.length, "server")} become visible outside it.`
              : "First remove the servers that are in no other project: without one they would be in all projects."}
          </Confirm>
        </div>
      </div>
    </Card>
  );
}

function NewProject({ draft }: Pick<ProjectsPage, "draft">) {
  return (
    <FormCard
      id="new-project"
      title="New project"
      action={PATH}
      busy="Creating…"
      fields={{ change: "create" }}
    >
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
        <button type="submit" class="button button-primary">Create project</button>
      </div>
    </FormCard>
  );
}
