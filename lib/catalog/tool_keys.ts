import { getOrMake } from "../core/defined.ts";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { CatalogTool } from "./catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import type { NameTable } from "./name_table.ts";
import { namespacedName } from "./names.ts";

export const KEY_MINUTES = 60;
const MINUTE_MS = 60_000;
const PREFIX = "tk_";
/** Which tool, until when, and the proof of both. */
const TOOL_BYTES = 6;
const EXPIRY_BYTES = 4;
const PROOF_BYTES = 11;
const FORM = /^tk_[A-Za-z0-9_-]{28}$/;

/** Signed keys to one tool for one caller. Not stored: a key carries the tool and its expiry. */
export class ToolKeys {
  readonly #secret: Uint8Array;
  readonly #byHash = new WeakMap<NameTable, Map<string, CatalogTool>>();

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  static isKey(text: string): boolean {
    return FORM.test(text);
  }

  issue(tool: CatalogTool, principal: string, now = Date.now()): string {
    const name = namespacedName(tool.server, tool.name);
    const expiry = Math.floor(now / MINUTE_MS) + KEY_MINUTES;
    const head = new Uint8Array(TOOL_BYTES + EXPIRY_BYTES);
    head.set(hashOf(name));
    new DataView(head.buffer).setUint32(TOOL_BYTES, expiry);
    const key = new Uint8Array([...head, ...this.#proof(name, principal, expiry)]);
    return PREFIX + key.toBase64({ alphabet: "base64url", omitPadding: true });
  }

  resolve(key: string, principal: string, table: NameTable, now = Date.now()): CatalogTool {
    const bytes = ToolKeys.isKey(key)
      ? Uint8Array.fromBase64(key.slice(PREFIX.length), { alphabet: "base64url" })
      : undefined;
    const tool = bytes && this.#toolsOf(table).get(bytes.slice(0, TOOL_BYTES).toHex());
    if (!bytes || !tool) throw invalid();
    const expiry = new DataView(bytes.buffer).getUint32(TOOL_BYTES);
    const proof = this.#proof(namespacedName(tool.server, tool.name), principal, expiry);
    if (!timingSafeEqual(proof, bytes.slice(TOOL_BYTES + EXPIRY_BYTES))) throw invalid();
    if (expiry * MINUTE_MS <= now) throw expired();
    return tool;
  }

  #proof(name: string, principal: string, expiry: number): Uint8Array {
    const text = JSON.stringify(["tool key", name, principal, expiry]);
    return createHmac("sha256", this.#secret).update(text).digest().subarray(0, PROOF_BYTES);
  }

  #toolsOf(table: NameTable): Map<string, CatalogTool> {
    return getOrMake(this.#byHash, table, () => {
      const hash = ({ server, name }: CatalogTool) => hashOf(namespacedName(server, name));
      return new Map(table.tools().map((tool) => [new Uint8Array(hash(tool)).toHex(), tool]));
    });
  }
}

export function expirationOf(now = Date.now()) {
  const end = (Math.floor(now / MINUTE_MS) + KEY_MINUTES) * MINUTE_MS;
  return {
    expiresAt: new Date(end).toISOString(),
    expiresInSeconds: Math.round((end - now) / 1000),
    ttlMinutes: KEY_MINUTES,
  };
}

function hashOf(name: string): Uint8Array {
  return createHash("sha256").update(name).digest().subarray(0, TOOL_BYTES);
}

function invalid(): GatewayError {
  return new GatewayError("TOOLKEY_INVALID", {
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
