import { page } from "fresh";
import { Projects } from "../../../../components/security_projects.tsx";
import { askerOf } from "../../../../lib/console/asker.ts";
import { define } from "../../../../lib/console/define.ts";
import {
  changeProjects,
  type ProjectsPage,
  projectsPage,
} from "../../../../lib/console/security_projects.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

const MAX_FORM = 262_144;

export const handler = define.handlers<ProjectsPage>({
  async GET(ctx) {
    ctx.state.title = "Projects";
    return page(await projectsPage(ctx.state.gateway, ctx.url.searchParams));
  },

  async POST(ctx) {
    ctx.state.title = "Projects";
    const { gateway } = ctx.state;
    const form = await readForm(ctx.req, MAX_FORM);
    try {
      const done = await changeProjects(gateway, form, askerOf(ctx));
      return ctx.redirect(`/security/projects?done=${done}`, 303);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
      return page(await projectsPage(gateway, form, error), { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function ProjectsRoute({ data }) {
  // Not live: what is ticked and not saved yet must not be replaced.
  return (
    <div class="stack">
      <Projects page={data} />
    </div>
  );
});
