import { PROJECT_DECISIONS, type ProjectRow, projectsPage } from "./(_page)/model.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { Card } from "../../../../components/layout.tsx";
import { Confirm, FormCard, PostForm } from "../../../../components/forms.tsx";
import { OperationFields } from "../../../../components/operation_form.tsx";
import { EmptyState } from "../../../../components/states.tsx";
import { InertText, Listed } from "../../../../components/text.tsx";
import { SecurityPage } from "../(_components)/page.tsx";
import { formPage } from "../../../../lib/console/form_page.ts";
import { define } from "../../../../lib/console/define.ts";
import { ACCESS_OPERATIONS } from "../../../../lib/operations/access.ts";

const PATH = "/security/projects";

export const handler = formPage({
  title: "Projects",
  path: PATH,
  decisions: PROJECT_DECISIONS,
  load: projectsPage,
});

/** More of them would be a wall of names. */
const FEW = 10;

/** All projects with their servers, and the form for another. */
export default define.page<typeof handler>(function ProjectsPage({ data: page }) {
  const { projects, shared } = page;
  // Not live: what is ticked and not saved yet must not be replaced.
  return (
    <SecurityPage
      path={PATH}
      outcome={page}
      lead="Servers assigned to projects are visible only there; all other servers are visible everywhere"
      action={<a class="button button-primary" href="#new-project">New project</a>}
    >
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
        <p class="muted small">
          In all projects: {shared.slice(0, FEW).join(", ")}
          {shared.length > FEW && ` and ${formatCount(shared.length - FEW, "more server")}`}.
        </p>
      )}
      <FormCard
        id="new-project"
        title="New project"
        action={PATH}
        busy="Creating…"
        fields={{ action: "create" }}
      >
        <OperationFields
          id="project"
          operation={ACCESS_OPERATIONS.createProject}
          values={page.draft}
          problems={page.problems}
          fields={{
            name: { isName: true, hint: "1 to 64 letters, digits, _ or -." },
            description: {},
          }}
        />
        <div class="form-actions">
          <button type="submit" class="button button-primary">Create project</button>
        </div>
      </FormCard>
    </SecurityPage>
  );
});

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
          class="form form-wide"
          fields={{ action: "save", name, description, versionstamp }}
        >
          <fieldset class="rights">
            <legend>
              Servers <span class="visually-hidden">of {name}</span>
            </legend>
            {choices.length === 0 && <p class="muted">There are no servers yet.</p>}
            <div class="server-choices">
              {choices.map((server) => (
                <label key={server.name} class="check">
                  <input
                    type="checkbox"
                    name="servers"
                    value={server.name}
                    checked={server.isAssigned}
                  />
                  <span class="mono">{server.name}</span>
                  {server.isGone && <span class="muted small">not configured</span>}
                </label>
              ))}
            </div>
          </fieldset>
        </PostForm>
        {tokens.length > 0 && (
          <p class="muted small">
            Tokens bound to it: <Listed texts={tokens} />
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
            fields={{ action: "delete", name }}
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
              : "First remove the servers that are in no other project: otherwise they would become visible in all projects."}
          </Confirm>
        </div>
      </div>
    </Card>
  );
}
