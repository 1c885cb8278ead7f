import type { Severity } from "../../../catalog/tool_guard.ts";

/** A mark that is telling by itself; the expressions have no repeated part within a repeated one. */
export interface Marker {
  rule: string;
  severity: Severity;
  expression: RegExp;
  /** Cheap first look: without a match of this there is none of the expression. */
  needs?: RegExp;
  why: string;
  /** All that follows it goes with it. */
  toEnd?: true;
}

/** Some character of every marker; most texts of a schema have none of them. */
export const MARKED = /[<>[\]{}|$:#;!/~]|nc(?:at)? -e|\n|[ \t]{100}/;
const FOREIGN =
  /[^\0-\x7F]|instruc|istruz|consign|regles|regr|regl|orden|origen|herigen|fruheren|obigen|usuario|utilis|nutzer|anwender|utente/;

/** Looked for in the text as it came. */
export const MARKERS: readonly Marker[] = [
  {
    rule: "fake-message",
    severity: "high",
    expression:
      /<\/?(important|critical|urgent|mandatory|hidden|secret_instructions?|system[-_]?(reminder|prompt|message|note|instructions?)|sys|override|internal_instructions?)\s?>/i,
    why: "It dresses up as a message with more weight than a tool's description has",
  },
  {
    rule: "fake-message",
    severity: "high",
    expression:
      /<\|?(im_start|im_end|system|assistant|endoftext|begin_of_text|eot_id|start_header_id)\|>|<<\/?SYS>>|\[\/?INST\]|\[\/?(SYSTEM|ADMIN|ASSISTANT)\b[^\]\n]{0,40}\]|<\/(system|assistant|tool|tools|tool_description|description|function|functions|function_results|user_query)>/i,
    why: "It uses the marks by which models tell who is speaking",
  },
  {
    rule: "fake-message",
    severity: "high",
    expression:
      /\bSYSTEM( PROMPT| MESSAGE| NOTE| NOTICE| OVERRIDE| INSTRUCTIONS?| UPDATE| ALERT)?( \([^)\n]{0,40}\))?:|(^|\n)\s{0,20}(Human|Assistant|System): |\b[Ss]ystem (note|notice|override|directive|instruction|reminder):|#{2,4} ?(new |updated |system )(instruction|prompt|message)s?\b/,
    why: "It pretends to be a message of the system, or of somebody else in the conversation",
  },
  {
    rule: "fake-message",
    severity: "high",
    expression:
      /\b(new|updated|real|actual|revised) instructions?\s?:|\[(important|critical):|\[hidden[\]:]|\((hidden|secret):|-{2,9} ?new instructions|\{\{ ?\w{0,20}(override|admin)\w{0,20} ?[:}]/i,
    why: "It announces instructions, where a description should say what a tool does",
  },
  {
    rule: "hidden-markup",
    severity: "medium",
    expression: /<!--[^>]{0,20}\w+ \w+ \w+/,
    why: "It has a comment, which a page would not show and a model reads",
  },
  {
    rule: "hidden-markup",
    severity: "medium",
    expression:
      /style\s?=[^>\n]{0,80}(?:display:\s?none|visibility:\s?hidden)|font-size:\s?0|color:\s?(white|transparent)\b[^\n]{0,10}["']?>/i,
    why: "It has text that a page would not show and a model reads",
  },
  {
    rule: "hidden-markup",
    severity: "medium",
    expression: /\S[ \t]{150,4000}\S|\S(\r?\n[ \t]{0,8}){25,2000}\S/,
    why: "It has text far behind empty space, where a person does not look",
    toEnd: true,
  },
  {
    rule: "shell-command",
    severity: "high",
    expression:
      /\b(curl|wget)\b[^|\n]{0,200}\|\s?(sudo )?(ba|z|da)?sh\b|base64 (-d|--decode|-D)\b[^|\n]{0,40}\|\s?(ba|z)?sh\b|\$\(\s?(cat|curl|wget|env|printenv|whoami|id)\b|\b(bash|sh) -i >&|\/dev\/tcp\/|\b(nc|ncat) -e\b|;\s?(curl|wget|rm -rf|cat \/etc|cat ~)|\bcat [^|\n]{1,100}\|\s?(curl|nc|ncat|wget) |\brm -rf? [~\/](\s|$|\*)/,
    why: "It has a shell command that fetches and runs, or reads and sends",
  },
  {
    rule: "hidden-markup",
    severity: "high",
    expression:
      /<script\b[^<>]{0,100}(src=|>[^<]{4,400}<\/script)|<iframe\b[^<>]{0,100}src=|<\w{1,20}\b[^<>]{0,100}\son(error|load|click)\s?=/i,
    why: "It has markup that runs a script where it is shown as a page",
  },
  {
    rule: "linked-image",
    severity: "high",
    expression:
      /!\[[^\]\n]{0,200}\]\(\s?https?:[^)\s?]{0,300}\?[^)\s]{0,300}([{<$[]|%7B|data=|conversation|secret|token|history)|<img\b[^<>\n]{0,200}src=.?https?:[^<>\n?]{0,200}\?/i,
    why: "It has an image whose address carries data: showing it sends them",
  },
  {
    rule: "linked-image",
    severity: "medium",
    expression: /!\[[^\]\n]{0,200}\]\(\s?https?:[^)\s?]{0,300}\?/,
    why: "It has an image with a query in its address: showing it can send data",
  },
];

/** Other languages, looked for in the folded text. */
export const FOREIGN_MARKERS: readonly Marker[] = [
  {
    rule: "override",
    severity: "high",
    needs: FOREIGN,
    expression:
      /\b(ignora|ignore|ignorez|ignorer|olvida|oublie|oubliez|dimentica|esqueca|desconsidere)( todas?| toutes| tutte)? (las?|les|le|as) (\w{1,15} )?(instrucciones|instructions|consignes|istruzioni|instrucoes|ordenes|regles|regras|reglas)|\b(ignoriere|vergiss|missachte)( bitte)?( alle)?( deine| die)? (vorherigen|bisherigen|vorigen|fruheren|obigen) \w{4,20}|(忽略|无视|無視|忘记|忘掉|忽視).{0,8}(指令|指示|说明|提示|规则|規則|命令)|(指示|命令|ルール|プロンプト)を?.{0,6}(無視|忘れ)|(지시|명령|지침).{0,6}(무시|잊)|(игнорируй|игнорируйте|проигнорируй|забудь|забудьте).{0,20}(инструкции|указания|команды|правила)/u,
    why: "It tells the model to set aside what it was told by others",
  },
  {
    rule: "concealment",
    severity: "high",
    needs: FOREIGN,
    expression:
      /\bno (se )?(lo |le )?(digas?|menciones?|informes?|reveles?|cuentes?|muestres?).{0,20}usuario|\bne (lui |le |l)?(dis|dites|mentionne|mentionnez|revele|revelez|parle|parlez|informe|informez|montre|montrez).{0,25}utilisateur|\b(sag|sage|sagen|erzahle?|teile|erwahne|verrate|zeige|melde|informiere).{0,25}(benutzer|nutzer|anwender).{0,25}(nicht|nichts)|\bnao (conte|diga|mencione|informe|revele|mostre).{0,20}usuario|\bnon (dire|dirlo|menzionare|informare|rivelare|mostrare|parlarne).{0,20}utente|(不要|不得|切勿|别|勿|无需|不能|不可|請勿|请勿)(让|讓|向|对|對|将此)?(用户|用戶|使用者)?.{0,4}(告诉|告訴|告知|通知|提及|透露|知道|说明|說)|ユーザーに.{0,12}(言わな|伝えな|知らせな|教えな|話さな|見せな|通知しな|言及しな)|사용자에게.{0,15}(말하지|알리지|언급하지|보여주지)|не (говори|говорите|сообщай|сообщайте|рассказывай|упоминай|показывай).{0,25}пользовател/u,
    why: "It asks the model to keep something from the user",
  },
  {
    rule: "concealment",
    severity: "medium",
    needs: /without/,
    // A sentence that denies it ("never ... without the user's consent") is a promise.
    expression:
      /(^|\n)(?![^\n]*\b(not|no|nothing|never|dont|cannot|only|mustnt|refuses?|fails?)\b)[^\n]*\bwithout (the |any )?(users? )(consent|permission|approval|knowledge)\b/,
    why: "It asks for something to be done without the user's consent",
  },
  {
    rule: "encoded",
    severity: "high",
    needs: /decode|decrypt|deobfuscate|unscramble/,
    expression:
      /\b(decode|decrypt|deobfuscate|unscramble)\b.{0,60}\b(follow|execute|obey|run it|comply|do what)\b/,
    why: "It asks the model to decode something and to follow it",
  },
];

/** An address that runs something, or that leads to where data are collected. */
interface SuspiciousAddress {
  severity: Severity;
  /** Its severity as the address of an icon, where that differs. */
  asIcon?: Severity;
  /** Only looked for in the addresses of icons. */
  iconsOnly?: true;
  expression: RegExp;
  why: string;
}

export const ADDRESSES: readonly SuspiciousAddress[] = [
  {
    severity: "high",
    expression: /\b(javascript|vbscript):[^\s/]/i,
    why: "It has an address that runs a script",
  },
  {
    severity: "medium",
    asIcon: "high",
    expression: /\bdata:(text\/html|text\/javascript|application\/javascript|application\/xhtml)/i,
    why: "It has a page or script as an address",
  },
  {
    severity: "medium",
    expression:
      /\b(webhook\.site|requestbin\.\w+|pipedream\.net|burpcollaborator\.net|oastify\.com|interact\.sh|oast\.(fun|live|pro|site|online|me)|beeceptor\.com|hookbin\.com|requestcatcher\.com|canarytokens\.com|dnslog\.cn)\b/i,
    why: "It names a place whose use is to collect what others send",
  },
  {
    severity: "medium",
    expression:
      /(\/\/|@|\.|\b)(evil|attacker|attkr|malicious|exfil|hacker|stealer)[\w-]{0,30}(\.[\w-]{1,30}){0,3}\.(com|net|org|io|co|example|test|xyz|ru|site)\b/i,
    why: "It names an address that calls itself hostile",
  },
  {
    severity: "medium",
    expression: /\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b|\bfd00:ec2::254\b/i,
    why: "It names the address at which a cloud hands out credentials",
  },
  {
    severity: "medium",
    iconsOnly: true,
    expression: /^file:/i,
    why: "Its icon is a file of the machine that shows it",
  },
];
