import { define } from "../../../../lib/console/define.ts";
import { readEntry } from "../../(_parts)/server_entry.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const { admin, logs } = ctx.state.gateway;
    const read = await admin.read(ctx.params.name ?? "");
    const { server, spec } = read;
    if (server.source.kind !== "file") return Response.json(read);
    // Variables of the environment can stand anywhere in a file's entry; the redactor knows them.
    const shown = JSON.parse(
      JSON.stringify(spec),
      (_, value) => typeof value === "string" ? logs.redactor.text(value) : value,
    );
    return Response.json({ server, spec: shown });
  },

  async PUT(ctx) {
    const name = ctx.params.name ?? "";
    const { spec, version, by } = await readEntry(ctx, name);
    const server = await ctx.state.gateway.admin.update(name, spec, { version, by });
    return Response.json({ server });
  },

  async DELETE(ctx) {
    const name = ctx.params.name ?? "";
    await ctx.state.gateway.admin.remove(name);
    return Response.json({ removed: name });
  },
});
