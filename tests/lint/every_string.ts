/** Reports every text that a person or a model may read, for `deno task strings`. */

/** Words with a space between them, or a capitalized word: not an id, a path or a class name. */
const PROSE = /\p{L}[^/\\=<>]*\s\p{L}|^\p{Lu}\p{Ll}+[.!?]?$/u;

function list(context: Deno.lint.RuleContext, node: Deno.lint.Node, text: string): void {
  const message = text.replaceAll(/\s+/g, " ").trim();
  if (PROSE.test(message)) context.report({ node, message });
}

export default {
  name: "every-string",
  rules: {
    list: {
      create: (context) => ({
        Literal(node) {
          const { parent, value } = node;
          const isClass = parent?.type === "JSXAttribute" && parent.name.name === "class";
          if (typeof value === "string" && !isClass) list(context, node, value);
        },
        TemplateLiteral(node) {
          const parts = node.quasis.map(({ cooked }) => cooked);
          list(context, node, parts.join("..."));
        },
        JSXText: (node) => list(context, node, node.value),
      }),
    },
  },
} satisfies Deno.lint.Plugin;
