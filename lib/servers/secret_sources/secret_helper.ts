/**
 * A program of its own: reads secrets with a library. Its input is a `SecretRequest`; its last line of
 * output is `{ values }` or `{ name, problem }`.
 */
export interface SecretRequest {
  source: "keychain" | "op";
  /** The specifier of the library; not a literal, so that no build or lock file includes it. */
  library: string;
  names: string[];
  /** For 1Password. */
  token?: string;
  version?: string;
}

/** What is used of @napi-rs/keyring. */
interface Keyring {
  Entry: new (service: string, name: string, options: object) => { getPassword(): string | null };
}

/** What is used of @1password/sdk. */
interface OnePassword {
  createClient(options: object): Promise<{
    secrets: { resolve(reference: string): Promise<string> };
  }>;
}

/** One service: an entry must not be able to name another program's passwords. */
const SERVICE = "quartermaster";

async function read(
  { source, library, names, token, version }: SecretRequest,
): Promise<(name: string) => string | null | Promise<string>> {
  const loaded = await import(library).catch((error) => {
    throw new Error(`${library} cannot be loaded, which the first use fetches from npm`, {
      cause: error,
    });
  });
  if (names.length === 0) throw new Error("no secret is wanted");
  if (source === "keychain") {
    const { Entry }: Keyring = loaded;
    // Not the kernel's keyring, which the library falls back to: it forgets with a restart.
    const options = { linux: { store: "secret-service" } };
    return (name) => new Entry(SERVICE, accountOf(name), options).getPassword();
  }
  const { createClient }: OnePassword = loaded;
  const client = await createClient({
    auth: token,
    integrationName: "Quartermaster",
    integrationVersion: version,
  });
  return (name) => client.secrets.resolve(name);
}

function missing(source: SecretRequest["source"], name: string): string {
  if (source === "op") return "it has no value";
  return `the keychain has no password for service "${SERVICE}" and account "${accountOf(name)}"`;
}

function accountOf(name: string): string {
  return name.replace(/^keychain:/, "");
}

async function answer(request: SecretRequest): Promise<object> {
  let name = request.names[0];
  try {
    const valueOf = await read(request);
    const values = [];
    for (name of request.names) {
      const value = await valueOf(name);
      if (!value) return { name, problem: missing(request.source, name) };
      values.push(value);
    }
    return { values };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const clean = request.token ? message.replaceAll(request.token, "***") : message;
    return { name, problem: clean.replace(/\s+/g, " ").slice(0, 300) };
  }
}

const request: SecretRequest = await new Response(Deno.stdin.readable).json();
const line = new TextEncoder().encode(`\n${JSON.stringify(await answer(request))}\n`);
for (let sent = 0; sent < line.length;) sent += await Deno.stdout.write(line.subarray(sent));
// A library may keep the process alive.
Deno.exit(0);
