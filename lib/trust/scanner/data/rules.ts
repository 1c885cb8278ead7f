/** What each rule is called, and what it is about, for a person. */
export const RULES: readonly { id: string; title: string; explains: string }[] = [
  {
    id: "concealment",
    title: "Hides something from the user",
    explains:
      "A tool has no reason to ask the model for silence. Attacks do, since the user would stop them.",
  },
  {
    id: "override",
    title: "Sets aside other instructions",
    explains:
      "The text tells the model to forget or outrank what the user or the developer of the client said.",
  },
  {
    id: "fake-message",
    title: "Pretends to be somebody else",
    explains:
      "The text uses marks or headings by which models recognize system messages or other speakers.",
  },
  {
    id: "tool-priority",
    title: "Wants to be part of everything",
    explains:
      "The tool asks to be called before or after all others, or instead of them. Ordinary servers say when their tool fits.",
  },
  {
    id: "preference",
    title: "Praises itself to the model",
    explains:
      "The text wants the model to choose this tool because it says so, not because it fits the task.",
  },
  {
    id: "secret-files",
    title: "Asks for files with secrets",
    explains:
      "The text has the model read keys, credentials or settings, or pass on their content.",
  },
  {
    id: "secrets",
    title: "Collects secrets",
    explains: "The text has the model look for keys, passwords or variables and hand them over.",
  },
  {
    id: "conversation",
    title: "Asks for the conversation",
    explains:
      "The text wants what the user and the model said, or the model's own instructions, not an argument.",
  },
  {
    id: "exfiltration-parameter",
    title: "A parameter that collects",
    explains:
      "Models fill in parameters by their names. These names ask for what the tool does not need.",
  },
  {
    id: "sends-data",
    title: "Sends data to an address of its own",
    explains:
      "The text fixes a recipient, a web address or an account that the user did not choose.",
  },
  {
    id: "cross-server",
    title: "Speaks of other servers' tools",
    explains:
      "The text says what tools of other servers have to do. A definition should be about its own tool.",
  },
  {
    id: "shadowing",
    title: "Has another tool's name",
    explains:
      "The same name on two servers is common. A name that only looks the same is made to be mistaken.",
  },
  {
    id: "reserved-name",
    title: "Has the name of a tool of the gateway",
    explains: "A tool that is called like the gateway's own is made to be mistaken for it.",
  },
  {
    id: "invisible-characters",
    title: "Invisible characters",
    explains: "The text has characters that no screen shows and that a model reads.",
  },
  {
    id: "bidirectional-characters",
    title: "Changed direction of text",
    explains: "The text is shown in another order than the one in which a model reads it.",
  },
  {
    id: "control-characters",
    title: "Control characters",
    explains: "The text has commands to a terminal or other controls, which can hide parts of it.",
  },
  {
    id: "mixed-scripts",
    title: "Letters of two scripts in one word",
    explains:
      "A word looks like an ordinary one and is another, so that a search does not find it.",
  },
  {
    id: "encoded",
    title: "Encoded text",
    explains:
      "The text has words in base64, hexadecimal digits or escapes, which hide what they say.",
  },
  {
    id: "hidden-markup",
    title: "Text that a page would not show",
    explains: "Comments, hidden elements and long empty space keep text from a person's eyes.",
  },
  {
    id: "linked-image",
    title: "An image that sends data",
    explains: "A client that shows the image asks its address for it, and so sends what it holds.",
  },
  {
    id: "addresses",
    title: "A doubtful address",
    explains: "The address runs a script or leads to a place where data are collected.",
  },
  {
    id: "shell-command",
    title: "A command for the machine",
    explains: "The text has a command that fetches and runs a program, or weakens the machine.",
  },
  {
    id: "entangled",
    title: "Cannot be taken out",
    explains: "What was found is not in a passage, so the rest cannot be served without it.",
  },
  {
    id: "oversized",
    title: "Too large to be read",
    explains: "The definition has more text than is read. What lies beyond is taken out.",
  },
];

/** Tricks: one high finding of these quarantines a tool. Of other rules it takes a second one. */
export const HARD_RULES: ReadonlySet<string> = new Set([
  "invisible-characters",
  "bidirectional-characters",
  "control-characters",
  "encoded",
  "fake-message",
  "hidden-markup",
  "shadowing",
  "reserved-name",
  "entangled",
  "scan-failed",
]);
