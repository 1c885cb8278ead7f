import * as z from "zod";
import { nonEmpty } from "../../config/platform.ts";
import { getJson, requiredVariable, serviceUrl } from "./secret_http.ts";
import { type SecretSourceContext, SecretUnavailable } from "./source.ts";

const Mount = z.object({
  data: z.object({
    path: z.string(),
    type: z.string(),
    options: z.record(z.string(), z.unknown()).nullish(),
  }),
});
const Values = z.record(z.string(), z.unknown());
const Version1 = z.object({ data: Values });
const Version2 = z.object({ data: z.object({ data: Values.nullable() }) });

/** Secrets of HashiCorp Vault's key-value engine, `vault:PATH#KEY`, as `vault kv get` finds them. */
export async function openVault(
  names: readonly string[],
  context: SecretSourceContext,
): Promise<Map<string, string>> {
  const values = new Map<string, Promise<Record<string, unknown> | undefined>>();
  const found = new Map<string, string>();
  for (const name of names) {
    const [path = "", key = ""] = name.slice("vault:".length).split("#");
    const data = values.get(path) ?? readPath(name, path, context);
    values.set(path, data);
    const value = (await data)?.[key];
    if (typeof value !== "string" || value === "") {
      const what = await data === undefined ? "this path" : `a text under the key ${key}`;
      throw new SecretUnavailable(
        name,
        `Vault does not have ${what}: see \`vault kv get ${path}\``,
      );
    }
    found.set(name, value);
  }
  return found;
}

async function readPath(
  name: string,
  path: string,
  { env, learn }: SecretSourceContext,
): Promise<Record<string, unknown> | undefined> {
  const base = serviceUrl(name, env, "VAULT_ADDR");
  const token = requiredVariable(name, env, "VAULT_TOKEN");
  const namespace = nonEmpty(env, "VAULT_NAMESPACE");
  learn([token]);
  const service = {
    name,
    variable: "VAULT_ADDR",
    base,
    headers: {
      "X-Vault-Token": token,
      "X-Vault-Request": "true",
      ...(namespace === undefined ? {} : { "X-Vault-Namespace": namespace }),
    },
  };
  const mount = await getJson(service, `/v1/sys/internal/ui/mounts/${path}`, Mount);
  if (!mount) return undefined;
  const { path: root, type, options } = mount.data;
  // Other paths answer with the token itself, or create credentials with each read.
  if ((type !== "kv" && type !== "generic") || !path.startsWith(root)) {
    throw new SecretUnavailable(name, "only Vault's key-value secrets can be used");
  }
  if (options?.version !== "2") {
    return (await getJson(service, `/v1/${path}`, Version1))?.data;
  }
  const found = await getJson(service, `/v1/${root}data/${path.slice(root.length)}`, Version2);
  return found?.data.data ?? undefined;
}
