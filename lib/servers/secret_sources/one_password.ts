import * as z from "zod";
import { nonEmpty } from "../../config/platform.ts";
import { VERSION } from "../../core/product.ts";
import { runSecretHelper } from "./helper.ts";
import { getJson, requiredVariable, serviceUrl } from "./secret_http.ts";
import { type SecretSourceContext, SecretUnavailable } from "./source.ts";

const LIBRARY = "npm:@1password/sdk@0.5.0";

const Ids = z.array(z.object({ id: z.string() }));
const Item = z.object({
  fields: z.array(z.object({
    id: z.string(),
    label: z.string().nullish(),
    value: z.string().nullish(),
    totp: z.string().nullish(),
    section: z.object({ id: z.string() }).nullish(),
  })).default([]),
  sections: z.array(z.object({ id: z.string(), label: z.string().nullish() })).default([]),
});

type Connect = (name: string) => Parameters<typeof getJson>[0];

/**
 * Secrets of 1Password, `op://VAULT/ITEM/[SECTION/]FIELD`: from a Connect server if there is one,
 * else with a service account.
 */
export async function openOnePassword(
  names: readonly string[],
  context: SecretSourceContext,
): Promise<Map<string, string>> {
  const { env, learn } = context;
  const [first = ""] = names;
  if (nonEmpty(env, "OP_CONNECT_HOST") === undefined) {
    const token = nonEmpty(env, "OP_SERVICE_ACCOUNT_TOKEN");
    if (token === undefined) {
      throw new SecretUnavailable(
        first,
        "the gateway has no access to 1Password: set OP_SERVICE_ACCOUNT_TOKEN, or OP_CONNECT_HOST " +
          "and OP_CONNECT_TOKEN, in its environment and restart it",
      );
    }
    learn([token]);
    return await runSecretHelper({
      request: {
        source: "op",
        library: context.library ?? LIBRARY,
        names: [...names],
        token,
        version: `v${VERSION}`,
      },
      permissions: ["--allow-read", "--allow-env", "--allow-net", "--allow-sys"],
      advice: "check the reference, and OP_SERVICE_ACCOUNT_TOKEN",
    });
  }
  const base = serviceUrl(first, env, "OP_CONNECT_HOST");
  const token = requiredVariable(first, env, "OP_CONNECT_TOKEN");
  learn([token]);
  const headers = { authorization: `Bearer ${token}` };
  const service = (name: string) => ({ name, variable: "OP_CONNECT_HOST", base, headers });
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, await readField(name, service)] as const),
    ),
  );
}

async function readField(name: string, connect: Connect): Promise<string> {
  const [path = "", attribute] = name.slice("op://".length).split("?attribute=");
  const [vault = "", item = "", ...rest] = path.split("/");
  const fieldName = rest.pop();
  const [sectionName] = rest;
  const vaultId = await idOf(name, connect, "/v1/vaults", { name: vault }, `vault ${vault}`);
  const items = `/v1/vaults/${vaultId}/items`;
  const itemId = await idOf(name, connect, items, { title: item }, `item ${item}`);
  const found = await getJson(connect(name), `${items}/${itemId}`, Item);
  const sections = (found?.sections ?? []).filter((section) => isNamed(section, sectionName));
  const fields = (found?.fields ?? []).filter((field) =>
    isNamed(field, fieldName) &&
    (sectionName === undefined || sections.some(({ id }) => id === field.section?.id))
  );
  const values = fields.map(({ value, totp }) => attribute === undefined ? value : totp);
  if (attribute !== undefined && attribute !== "otp" && attribute !== "totp") {
    throw new SecretUnavailable(
      name,
      `a Connect server cannot read the attribute ${attribute}: leave it out`,
    );
  }
  if (values.length > 1) {
    throw new SecretUnavailable(name, "the item has several such fields: name the section too");
  }
  const [value] = values;
  if (value) return value;
  throw new SecretUnavailable(
    name,
    `the item has no field ${rest.concat(fieldName ?? "").join("/")} with a value`,
  );
}

/** The id of the only list entry that matches a name or an id. */
async function idOf(
  name: string,
  connect: Connect,
  path: string,
  wanted: Record<string, string>,
  what: string,
): Promise<string> {
  const [[key, text] = ["", ""]] = Object.entries(wanted);
  // An id has 26 letters and digits, and no name of that form is likely.
  if (/^[a-z0-9]{26}$/.test(text)) return text;
  const filter = encodeURIComponent(`${key} eq "${text}"`);
  const found = await getJson(connect(name), `${path}?filter=${filter}`, Ids) ?? [];
  const [one] = found;
  if (one && found.length === 1) return one.id;
  throw new SecretUnavailable(
    name,
    one
      ? `1Password has several with the name of the ${what}: use its id`
      : `the 1Password token sees no ${what}`,
  );
}

function isNamed(
  { id, label }: { id: string; label?: string | null | undefined },
  name: string | undefined,
): boolean {
  return name !== undefined && (id === name || label?.toLowerCase() === name.toLowerCase());
}
