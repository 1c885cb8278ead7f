import { parseDocument, stringify } from "yaml";
import { isObject } from "../core/rpc.ts";
import { broken, dig, nest, type Syntax } from "./client_syntax.ts";

const read = (text: string, file: string) => {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) {
    const [place] = error.linePos ?? [];
    throw broken(file, error, place && { line: place.line, column: place.col });
  }
  const { contents } = document;
  if (contents === null || isObject(document.toJS())) return document;
  throw broken(file, new Error("expected a mapping at the top level"));
};
/** Comments stay; unusual formatting may be normalized. */
export const YAML: Syntax = {
  snippet: (path, value) => stringify(nest(path, value)).trim(),
  valueAt: (text, file, path) => dig(read(text, file).toJS() ?? {}, path),
  withValueAt(text, file, path, value) {
    const document = read(text, file);
    if (JSON.stringify(dig(document.toJS() ?? {}, path)) === JSON.stringify(value)) return text;
    if (value === undefined) document.deleteIn(path);
    else document.setIn(path, document.createNode(value));
    return document.toString({ lineWidth: 0 });
  },
};
