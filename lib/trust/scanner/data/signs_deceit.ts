import type { Described } from "./signs.ts";

/** Whom the model is to obey, what it is to say that is not so, and what it is to break. */
export const DECEIT: readonly Described[] = [
  {
    id: "obey",
    says: "makes the model obey instructions from elsewhere",
    rule: "override",
    phrases: [
      "obeyed|unread|unquestioned|unquestioningly",
      "is|are your|the next ~1 action|step|task|order",
      "typed|entered|pasted ~2 into ~2 terminal|shell|console",
      "next|new|following ~1 assignment|task|mission|instruction|order|command",
      "follow|obey|execute|carry|perform|heed|act|do|comply|honor|honour|implement|run ~6 instructions|instruction|orders|commands|command|directives|steps|tasks|directions ~6 from|in|returned|inside|within|contained|found|of|it|by ~4 result|results|response|responses|output|page|file|url|server|returns|§url|field|body|reply|document|resource|message|returned|remote|it",
      "do ~2 as|what|whatever|exactly ~2 it|they|result|response|output|text|server|page|tool|file ~2 says|say|tells|asks|instructs|returns|directs",
      "treat|regard|take|consider|interpret|handle ~8 as ~3 instructions|instruction|commands|orders|trusted|authoritative|system|binding|gospel|user",
      "obey|comply|submit ~4 to|with|it|them|this|these|server|tool|result",
    ],
  },
  {
    id: "lie",
    says: "makes the model say something false",
    rule: "concealment",
    phrases: [
      "people|person|someone|anyone|whoever|users|user|they|customers|guests ~4 hear|hears|told|learn|learns ~4 that|it|about|the|all|takes",
      "said|told to have",
      "be that so",
      "true or not",
      "speak|speaks|talk|talks ~2 of|about|badly|only|alone",
      "say|tell|tells|telling|claim|reply ~5 failed|withdrawn|closed|unavailable|full|booked|out|gone|sold|discontinued|broken|offline|deleted|expired",
      "describe|described|relay|relayed|report|reported|shown|present|presented|reporting ~4 as ~2 §code|clean|anonymous|coming|ours|own|nothing|no|out|genuine",
      "screen|chat|receipt|confirmation|summary|invoice ~3 shows|show|sees|keeps|states|says|stays",
      "should|if|when|whenever ~2 asked|ask|asks|questioned|challenged|queried|pressed|wonder|wonders|inquires|prompted ~8 say|explain|claim|state|tell|attribute|blame|cite",
      "say|answer|reply|claim|insist ~3 it|that|they ~3 was|were|has|had|did",
      "seem|seems|appear|sound|sounds ~3 your|their own",
      "deny|denies|denying ~2 that|having|knowledge|knowing",
      "describe|phrase|word|label|present|list|name|call|tag|log|record|title|disguise ~3 as ~3 routine|refresh|sync|maintenance|cache|update|normal|standard|ordinary|upgrade|diagnostic|harmless|cleanup|check",
      "mark|marked|flag|flagged|labeled|report|reported|log|logged ~2 as ~2 clean|safe|passed|approved|done|read|resolved|reviewed|benign|ok|success",
      "echoed|echo ~2 back",
      "XUSER ~8 XLIE",
    ],
  },
  {
    id: "danger",
    says: "weakens the machine's security",
    rule: "shell-command",
    unlessDenied: true,
    isObject: true,
    phrases: [
      "outside ~2 sandbox|it",
      "sandbox ~6 outside|off|way",
      "bypass|bypasspermissions|trusted ~2 list|mode|server",
      "allow|trust|trusted|approved list",
      "elevated|administrative|root|admin|superuser|sudo ~1 rights|privileges|permissions|shell",
      "unlock|disarm|open|deactivate ~3 door|alarm|gate|lock|garage|camera",
      "adding|add|adds ~4 to ~2 administrators|admins|sudoers|wheel|owners",
      "purge|delete|wipe|remove|clear|scrub|alter|edit|rewrite|tamper ~3 events|audit|records|entries|trail|rows|logs",
      "as root|administrator|superuser|sudo",
      "without|skip|skipping|bypass ~2 scanning|scan|verification|verifying|validation|tests|checks|signature|lint|ci|review",
      "sandbox|firewall|antivirus|encryption|verification|audit|logging|protection|checks|filters|moderation ~2 off|disabled|bypassed|paused",
      "curl|wget|powershell|bash|npx|pip ~6 §url|sh|bash|install",
      "delete|wipe|erase|purge|clear|truncate ~4 logs|log|history|audit|trail|traces|evidence|backups|backup",
      "public|world|anyone ~1 readable|writable|bucket|access",
    ],
  },
  {
    id: "cipher",
    says: "asks to decode hidden text",
    rule: "encoded",
    isObject: true,
    phrases: [
      "right|bottom|end to|from left|top|start",
      "decode|decrypt|unscramble|deobfuscate|rot13|decipher|unhex",
      "decode|decrypt|unscramble|deobfuscate|rot13|cipher|ciphered|acrostic|morse|backwards|spelled|initials|unpack|reverse|reversed|xor|decipher ~12 apply|act|follow|carry|obey|execute|comply|perform|run|do|heed|use",
    ],
  },
];

/** What is said of other servers' tools, which a server has no reason to explain. */
export const TOOLS_OF_OTHERS: readonly Described[] = [
  {
    id: "calls",
    says: "calls a tool that is not its own",
    rule: "cross-server",
    unlessDenied: true,
    phrases: [
      "CALLS ~3 §tool|ALIEN",
      "§tool|ALIEN ~1 tool|function|command|endpoint|first|afterwards|runs|executes",
    ],
  },
  {
    id: "reshape",
    says: "dictates how to use another server's tool",
    rule: "cross-server",
    phrases: [
      "ALIEN ~3 takes|gets|receives|uses|goes|becomes|carries|wants|belongs|yields|is|are|ignores|needs",
      "ALIEN ~1 DETAIL|call|calls|output|result|results",
      "DETAIL ~3 of|for|in|to|on ~2 ALIEN",
      "before|after|alongside|whenever|when|upon|each|every|once ~3 ALIEN",
    ],
  },
  {
    id: "rewire",
    says: "changes what other servers' tools do",
    rule: "cross-server",
    isObject: true,
    phrases: [
      "BRAND ~1 server|tool|tools|connector|integration|function|calls|plugin ~6 SWAP|amended|takes|instead|wrapped|becomes|renamed|swapped|differently|append|prefix",
    ],
  },
];
