const ALPHABETS = ["abcdefghij", "Zażółć gęślą jaźń ", "数据存储与备份。", "🚀🧭🗄️ "];

/** A text whose JSON takes exactly this many bytes, in several scripts. */
export function textOfBytes(bytes: number, seed = 0): string {
  const alphabet = ALPHABETS[seed % ALPHABETS.length] ?? "";
  const unit = new TextEncoder().encode(alphabet).length;
  const whole = Math.max(0, Math.floor((bytes - 2) / unit));
  const text = alphabet.repeat(whole);
  return text + "x".repeat(bytes - 2 - whole * unit);
}
