import { join } from "@std/path";
import { fixtureCommand } from "../fixtures/start_fixture.ts";

/** A program that leaves a mark when it is run, and then is an MCP server. */
export class Trap implements AsyncDisposable {
  readonly folder: string;
  /** As it is run, with text that a page must not take for its own. */
  readonly argv: string[];

  private constructor(folder: string) {
    this.folder = folder;
    const { command, args } = fixtureCommand("chaos_server");
    const script = `echo "<b>sprung</b>" >> ${join(folder, "sprung")}; exec "$@"`;
    this.argv = ["sh", "-c", script, "sh", command, ...args];
  }

  static async make(): Promise<Trap> {
    return new Trap(await Deno.makeTempDir({ prefix: "quartermaster_trap_" }));
  }

  program() {
    const [command = "", ...args] = this.argv;
    return { command, args, env: { CANARY: "canary-value" } };
  }

  isSprung(): Promise<boolean> {
    return Deno.stat(join(this.folder, "sprung")).then(() => true, () => false);
  }

  async reset(): Promise<void> {
    await Deno.remove(join(this.folder, "sprung")).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
