import { getOrMake } from "../core/defined.ts";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { CatalogTool } from "./catalog_tool.ts";
import { forwardNow } from "../core/clock.ts";
import { GatewayError } from "../core/errors.ts";
import type { NameTable } from "./name_table.ts";
import { namespacedName } from "./names.ts";

export const KEY_MINUTES = 60;
const MINUTE_MS = 60_000;
const PREFIX = "tk_";
/**
 * The bytes of a key: which tool, until which minute, and the proof of both. Names are accepted in
 * place of keys, with the same checks, so a forged key would only reveal that a hidden tool exists:
 * 40 bits are enough against that, and models pay for each character.
 */
const LAYOUT = { tool: 2, expiry: 2, proof: 5 };
/** Of earlier versions; accepted while gateways of several versions share a store. */
const LONG_LAYOUT = { tool: 6, expiry: 4, proof: 11 };
const FORM = /^tk_(?:[A-Za-z0-9_-]{12}|[A-Za-z0-9_-]{28})$/;

/** Signed keys to one tool for one caller. Not stored: a key carries the tool and its expiry. */
export class ToolKeys {
  readonly #secret: Uint8Array;
  readonly #byHash = new WeakMap<NameTable, Map<string, CatalogTool[]>>();

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  static isKey(text: string): boolean {
    return FORM.test(text);
  }

  issue(tool: CatalogTool, principal: string, now = forwardNow()): string {
    const expiry = Math.floor(now / MINUTE_MS) + KEY_MINUTES;
    const key = this.#bytes(tool, principal, expiry, LAYOUT);
    return PREFIX + key.toBase64({ alphabet: "base64url", omitPadding: true });
  }

  resolve(key: string, principal: string, table: NameTable, now = forwardNow()): CatalogTool {
    if (!ToolKeys.isKey(key)) throw invalidKey();
    const bytes = Uint8Array.fromBase64(key.slice(PREFIX.length), { alphabet: "base64url" });
    const layout = bytes.length > 9 ? LONG_LAYOUT : LAYOUT;
    const tools = this.#toolsOf(table).get(bytes.subarray(0, LAYOUT.tool).toHex()) ?? [];
    const expiry = expiryOf(bytes.subarray(layout.tool, layout.tool + layout.expiry), now);
    const tool = tools.find((tool) =>
      timingSafeEqual(this.#bytes(tool, principal, expiry, layout), bytes)
    );
    if (!tool) throw invalidKey();
    if (expiry * MINUTE_MS <= now) throw expired();
    return tool;
  }

  #bytes(tool: CatalogTool, principal: string, expiry: number, layout: typeof LAYOUT): Uint8Array {
    const name = namespacedName(tool.server, tool.name);
    const minute = new Uint8Array(4);
    new DataView(minute.buffer).setUint32(0, expiry);
    const text = JSON.stringify(["tool key", name, principal, expiry]);
    const proof = createHmac("sha256", this.#secret).update(text).digest();
    return new Uint8Array([
      ...hashOf(name).subarray(0, layout.tool),
      ...minute.subarray(4 - layout.expiry),
      ...proof.subarray(0, layout.proof),
    ]);
  }

  #toolsOf(table: NameTable): Map<string, CatalogTool[]> {
    return getOrMake(
      this.#byHash,
      table,
      () =>
        Map.groupBy(
          table.tools(),
          ({ server, name }) =>
            new Uint8Array(hashOf(namespacedName(server, name)).subarray(0, LAYOUT.tool)).toHex(),
        ),
    );
  }
}

/** The latest possible minute with these last bytes: two of them last 45 days. */
function expiryOf(bytes: Uint8Array, now: number): number {
  const last = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const period = 256 ** bytes.length;
  const most = Math.floor(now / MINUTE_MS) + KEY_MINUTES;
  return most - ((most - last) % period + period) % period;
}

export function expirationOf(now = forwardNow()) {
  const end = (Math.floor(now / MINUTE_MS) + KEY_MINUTES) * MINUTE_MS;
  return {
    expiresAt: new Date(end).toISOString(),
    expiresInSeconds: Math.round((end - now) / 1000),
    ttlMinutes: KEY_MINUTES,
  };
}

function hashOf(name: string): Uint8Array {
  return createHash("sha256").update(name).digest();
}

export function invalidKey(message?: string): GatewayError {
  return new GatewayError("TOOLKEY_INVALID", {
    ...(message === undefined ? {} : { message }),
    recoveryAction: "Verify the toolKey",
    recoverySteps: [
      "Pass the toolKey exactly as tool_discovery returned it, or the tool's name",
      "If unsure, or if the tool may have been removed, call tool_discovery again",
    ],
    suggestedTools: ["tool_discovery"],
  });
}

function expired(): GatewayError {
  return new GatewayError("TOOLKEY_EXPIRED", {
    recoveryAction: "Rediscover the tool",
    recoverySteps: [
      "Call tool_discovery with your original search query",
      "Retry tool_execute with the new toolKey",
    ],
    hint:
      `Tool keys expire after ${KEY_MINUTES} minutes, so that they always refer to current definitions`,
    suggestedTools: ["tool_discovery"],
  });
}
