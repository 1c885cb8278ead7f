import { z } from "zod";
import { askerOf } from "../../../lib/console/asker.ts";
import { define } from "../../../lib/console/define.ts";
import { GatewayError } from "../../../lib/core/errors.ts";
import { readJson } from "../(_parts)/read_json.ts";

const WrittenProject = z.strictObject({
  description: z.string().optional(),
  servers: z.array(z.string()).default([]),
  /** As it was read; null: only where there is none yet. */
  versionstamp: z.string().nullable().optional(),
});

export const handler = define.handlers({
  async GET(ctx) {
    const name = ctx.params.name ?? "";
    const projects = await ctx.state.gateway.accessAdmin.projects();
    const project = projects.find((project) => project.name === name);
    if (!project) {
      throw new GatewayError("NOT_FOUND", {
        message: `There is no project "${name.slice(0, 80)}"`,
      });
    }
    return Response.json({ project });
  },

  /** Makes it, or gives it other servers. */
  async PUT(ctx) {
    const { gateway } = ctx.state;
    const written = await readJson(ctx.req, WrittenProject, gateway.options.options.maxBody);
    const name = ctx.params.name ?? "";
    const by = askerOf(ctx);
    const project = await gateway.accessAdmin.saveProject({ name, ...written }, by);
    return Response.json({ project });
  },

  async DELETE(ctx) {
    const name = ctx.params.name ?? "";
    await ctx.state.gateway.accessAdmin.deleteProject(name, askerOf(ctx));
    return Response.json({ deleted: name });
  },
});
