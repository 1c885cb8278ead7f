import { Tokenizer } from "ai-tokenizer";
import * as encoding from "ai-tokenizer/encoding/claude";

const tokenizer = new Tokenizer(encoding);
const scope = self as unknown as Worker;

scope.onmessage = ({ data: { id, texts } }: MessageEvent<{ id: number; texts: string[] }>) => {
  scope.postMessage({ id, counts: texts.map((text) => tokenizer.count(text)) });
};
