/**
 * What words a phrase is made of. A class is written in capitals in a phrase and stands for any of
 * its words. Texts are folded first: lower case, no quotes, no accents.
 */
export const CLASSES = {
  NOT: "dont never without avoid refrain mustnot shouldnot neednot nobody nor",
  FORBIDDEN: "never mustnot shouldnot neednot",
  TELL: "tell telling inform informing informed reveal revealing revealed disclose disclosing " +
    "warn confess admit announce mention mentioning",
  USER: "user users human humans person customer operator anyone anybody owner them",
  THIS: "this that it these",
  KNOW: "know knows notice notices aware told informed learn learns suspect realize realise",
  SECRETLY: "silently secretly covertly quietly discreetly stealthily surreptitiously invisibly",
  IGNORE: "ignore ignores ignoring disregard disregarding forget forgetting neglect",
  OVERRIDE: "override overrides overrule bypass circumvent",
  PRIOR: "previous prior earlier preceding above your system developer original former",
  ORDERS:
    "instruction instructions prompt prompts directive directives guideline guidelines rule " +
    "rules command commands messages directions orders restrictions safeguards systemprompt",
  INSTRUCTIONS:
    "instruction instructions prompt prompts directive directives guidelines directions " +
    "restrictions systemprompt",
  REQUIRED: "must should please first before beforehand always required mandatory need needs " +
    "have has also ensure sure prerequisite assistant agent model ai llm",
  DEMAND: "must always also please afterwards after first make every all each whenever has have " +
    "need needs should before when silently secretly ensure sure",
  WHEN: "when whenever before after any every each all if always once",
  READ: "read reading open opening cat load loading fetch retrieve get access extract look list " +
    "dump print parse check reads",
  GIVE: "pass passing put include including send sending provide supply hand give append attach " +
    "submit insert copy paste add embed upload forward share place write exfiltrate leak email",
  DENIED: "never not dont doesnt cannot mustnot shouldnot without no",
  CONTENT: "content contents text value values output data copy dump",
  SECRETS: "passwords cookies credentials secrets envvars privatekey privatekeys sshkey sshkeys " +
    "apikeys tokens keys",
  COLLECT: "collect gather harvest find list read retrieve extract obtain fetch search dump steal",
  WHOLE: "full entire complete whole verbatim all raw exact",
  CHAT: "conversation chat dialogue dialog convhistory",
  HIDDENPROMPT: "systemprompt chainofthought",
  SEND:
    "send post forward upload transmit submit deliver email mail leak ship push report mirror " +
    "relay exfiltrate route redirect sent forwarded copied routed redirected uploaded posted " +
    "delivered copy go bcc",
  MAIL:
    "email emails mail mails message messages payment payments transfer transfers transaction " +
    "transactions file files request requests commit commits query queries",
  OUTSIDE: "§url §email §number §host §leak",
  CHANGE: "change replace set redirect substitute swap switch modify rewrite use",
  TARGET: "recipient account address number numbers destination host url registry amount " +
    "beneficiary iban wallet",
  TOOLS: "tool tools function functions",
  EVERY: "every each",
  REPLY: "message messages response reply answer turn prompt interaction",
  FILE: "§hard §soft",
} as const;

/** Several words that are one for the phrases. */
export const MERGED: readonly [string, string][] = [
  ["do not", "dont"],
  ["not to", "dont"],
  ["will not", "dont"],
  ["under no circumstances", "dont"],
  ["must not", "mustnot"],
  ["mustnt", "mustnot"],
  ["may not", "mustnot"],
  ["is not allowed to", "mustnot"],
  ["should not", "shouldnot"],
  ["shouldnt", "shouldnot"],
  ["does not need to", "neednot"],
  ["doesnt need to", "neednot"],
  ["do not need to", "neednot"],
  ["dont need to", "neednot"],
  ["need not", "neednot"],
  ["no need to", "neednot"],
  ["pay no attention to", "ignore"],
  ["prior to", "before"],
  ["ahead of", "before"],
  ["from now on", "fromnowon"],
  ["word for word", "verbatim"],
  ["system prompt", "systemprompt"],
  ["system message", "systemprompt"],
  ["system instructions", "systemprompt"],
  ["developer message", "systemprompt"],
  ["chain of thought", "chainofthought"],
  ["internal reasoning", "chainofthought"],
  ["conversation history", "convhistory"],
  ["chat history", "convhistory"],
  ["message history", "convhistory"],
  ["private key", "privatekey"],
  ["private keys", "privatekeys"],
  ["ssh key", "sshkey"],
  ["ssh keys", "sshkeys"],
  ["api keys", "apikeys"],
  ["access tokens", "tokens"],
  ["environment variables", "envvars"],
  ["env vars", "envvars"],
  ["env variables", "envvars"],
  ["pre approved", "preapproved"],
  ["admin access", "adminaccess"],
  ["administrator access", "adminaccess"],
  ["admin privileges", "adminaccess"],
  ["full access", "adminaccess"],
  ["root access", "adminaccess"],
];
