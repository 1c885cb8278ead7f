/** Lint rules for the text in the sources: strings, JSX text and comments. */
import phrases from "./phrases.json" with { type: "json" };

const TEST = /_test\.tsx?$|\/(tests|testing|bench)\//;
const PHRASES = Object.entries(phrases).map(([phrase, instead]) => ({
  pattern: new RegExp(`\\b${phrase.replaceAll(" ", "\\s+(?:\\*\\s+|//\\s+)?")}\\b`, "i"),
  phrase,
  instead,
}));

/** The phrases in a text that a native speaker would not write. */
export function findPhrases(text: string): { phrase: string; instead: string }[] {
  return PHRASES.filter(({ pattern }) => pattern.test(text));
}

function check(context: Deno.lint.RuleContext, node: Deno.lint.Node, text: string): void {
  for (const { phrase, instead } of findPhrases(text)) {
    context.report({ node, message: `"${phrase}" reads as translated`, hint: `Write: ${instead}` });
  }
}

export default {
  name: "plain-english",
  rules: {
    phrases: {
      // Tests name what they plant.
      create: (context) =>
        TEST.test(context.filename) ? {} : ({
          Literal(node) {
            if (typeof node.value === "string") check(context, node, node.value);
          },
          TemplateElement: (node) => check(context, node, node.cooked),
          JSXText: (node) => check(context, node, node.value),
          Program(program) {
            for (const comment of context.sourceCode.getAllComments()) {
              check(context, { ...program, range: comment.range } as Deno.lint.Node, comment.value);
            }
          },
        }),
    },
  },
} satisfies Deno.lint.Plugin;
