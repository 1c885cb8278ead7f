import { GatewayError } from "../core/errors.ts";
import { printError } from "./terminal.ts";

/** More than any secret may have: enough to say that it is too long. */
const MOST_BYTES = 64 * 1024;
const ENTER = new Set([10, 13]);
const [INTERRUPT, END, BACKSPACE, DELETE, ERASE_LINE] = [3, 4, 8, 127, 21];

/** Everything that is piped in; the line break that ends it is not part of it. */
export async function readPiped(input: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of input) {
    pieces.push(piece);
    size += piece.length;
    if (size > MOST_BYTES) break;
  }
  return textOf(pieces.flatMap((piece) => [...piece])).replace(/\r?\n$/, "");
}

/** What a person types at the terminal, which shows nothing of it. */
export async function readHidden(question: string): Promise<string> {
  printError(question);
  Deno.stdin.setRaw(true);
  try {
    return await readLine(async (buffer) => await Deno.stdin.read(buffer));
  } finally {
    Deno.stdin.setRaw(false);
    printError("\n");
  }
}

/** One line from a terminal that passes every key on. */
export async function readLine(
  read: (buffer: Uint8Array) => Promise<number | null>,
): Promise<string> {
  const typed: number[] = [];
  const buffer = new Uint8Array(1_024);
  for (;;) {
    const count = await read(buffer);
    if (count === null) return textOf(typed);
    for (const byte of buffer.subarray(0, count)) {
      if (ENTER.has(byte)) return textOf(typed);
      if (byte === INTERRUPT || (byte === END && typed.length === 0)) {
        throw new GatewayError("ACCESS_DENIED", { message: "Nothing was set" });
      }
      if (byte === BACKSPACE || byte === DELETE) dropCharacter(typed);
      else if (byte === ERASE_LINE) typed.length = 0;
      else if (byte !== END) typed.push(byte);
    }
    if (typed.length > MOST_BYTES) return textOf(typed);
  }
}

/** The last character, however many bytes it has. */
function dropCharacter(typed: number[]): void {
  let byte = typed.pop();
  while (byte !== undefined && (byte & 0xc0) === 0x80) byte = typed.pop();
}

function textOf(bytes: readonly number[]): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot set the secret: its value is not text in UTF-8",
      recoverySteps: ["Encode it, for example in base64"],
    });
  }
}
