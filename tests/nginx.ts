import { fromFileUrl, join } from "@std/path";
import { until } from "./gateway.ts";
import { isInstalled } from "./installed.ts";

/** Debian installs it where only root looks. */
const PLACES = ["nginx", "/usr/sbin/nginx"];

/** The program; undefined if it is not installed. */
export async function findNginx(): Promise<string | undefined> {
  for (const place of PLACES) {
    if (await isInstalled(place, "-v")) return place;
  }
}

/** The blocks of nginx's configuration that the documentation has. */
async function documented(): Promise<{ location: string; upstream: string }> {
  const read = async (page: string, block: RegExp) => {
    const path = fromFileUrl(new URL(`../docs/${page}`, import.meta.url));
    const found = block.exec(await Deno.readTextFile(path))?.[1];
    if (found === undefined) throw new Error(`docs/${page} has no such block: ${block}`);
    return found;
  };
  return {
    location: await read("proxy.md", /^```\n(location \/ \{\n[^`]*\n\})\n```$/m),
    upstream: await read("scaling.md", /^```\n(upstream gateways \{\n[^`]*\n\})\n```$/m),
  };
}

/** nginx in front of gateways, set up as documented: each request goes to the next of them. */
export class Nginx implements AsyncDisposable {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #child: Deno.ChildProcess;
  readonly #errors: Promise<string>;

  private constructor(folder: string, port: number, child: Deno.ChildProcess) {
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#port = port;
    this.#child = child;
    this.#errors = new Response(child.stderr).text();
  }

  /** Before there are gateways, which have to know its URL. */
  static async start(program: string): Promise<Nginx> {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_nginx_" });
    // Its workers are another user if root starts it.
    await Deno.chmod(folder, 0o755);
    const reserved = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = reserved.addr as Deno.NetAddr;
    reserved.close();
    await writeConfig(folder, port, ["http://127.0.0.1:1"]);
    const child = new Deno.Command(program, {
      args: ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const nginx = new Nginx(folder, port, child);
    await nginx.#answers((status) => status === 502);
    return nginx;
  }

  /** From now on it passes requests on to these. */
  async serve(gateways: readonly string[]): Promise<void> {
    await writeConfig(this.#folder, this.#port, gateways);
    this.#child.kill("SIGHUP");
    await this.#answers((status) => status === 200);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGTERM");
    } catch { /* it has ended by itself */ }
    await this.#child.status;
    await this.#errors;
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #answers(isWanted: (status: number) => boolean): Promise<void> {
    let hasEnded = false;
    void this.#child.status.then(() => hasEnded = true);
    await until(async () => {
      if (hasEnded) throw new Error(`nginx did not start: ${await this.#errors}`);
      const response = await fetch(`${this.url}/healthz`).catch(() => undefined);
      await response?.body?.cancel();
      return response && isWanted(response.status) || undefined;
    });
  }
}

async function writeConfig(
  folder: string,
  port: number,
  gateways: readonly string[],
): Promise<void> {
  const { location, upstream } = await documented();
  const servers = gateways.map((url) => `server ${new URL(url).host};`).join("\n");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`);
  const text = `
daemon off;
pid ${join(folder, "nginx.pid")};
worker_processes 1;
events { worker_connections 8192; }
http {
access_log off;
${temporary.join("\n")}
${upstream.replace(/server [^]*;/, servers)}
server {
listen 127.0.0.1:${port};
# For the tests: which gateway answered, or should have.
add_header x-upstream $upstream_addr always;
${location.replace(/proxy_pass .*;/, "proxy_pass http://gateways;")}
}
}
`;
  await Deno.writeTextFile(join(folder, "nginx.conf"), text);
}
