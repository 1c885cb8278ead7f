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
    "apikeys tokens",
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
  ALIEN: "§foreign §qualified",
  CALLS:
    "call calls calling called invoke invokes invoking invoked run running execute executing " +
    "trigger triggering use using launch query",
  DUTY:
    "must should always first please also then afterwards whenever before after instead never " +
    "additionally beforehand immediately automatically silently need needs required shall remember",
  EACH: "every each any all",
  WHOLES:
    "full entire whole complete all every everything raw verbatim previous prior earlier preceding",
  CHATS: "conversation chat dialog dialogue transcript discussion messages turns convhistory",
  TOOLKIND:
    "mail email calendar payment payments banking bank file files filesystem browser terminal shell " +
    "database drive messaging messenger chat finance travel admin vault contacts sms payroll crm " +
    "github gitlab git slack gmail outlook jira notion stripe whatsapp telegram teams discord",
  OTHERS:
    "other others another different alternative alternatives competing rival remaining native " +
    "builtin",
  FAULTY:
    "wrong insecure unsafe outdated inaccurate deprecated compromised unreliable slow slower " +
    "leak leaks malware malicious broken obsolete invalid dangerous inferior untrustworthy error errors",
  OWNER: "users user your their my customers persons owners admins",
  PRIVATE:
    "password passwords passphrase credentials apikey apikeys privatekey privatekeys sshkey " +
    "sshkeys cookies login logins pin cvv mnemonic otp envvars",
  LIMITS:
    "restrictions limits guidelines rules safeguards guardrails safety policy policies checks " +
    "permissions restriction limit rule instructions protections",
  PRAISE:
    "best greatest finest leading premier ultimate worldclass unmatched unrivaled unrivalled " +
    "unbeatable superior smartest fastest strongest toprated numberone gold flagship supreme " +
    "perfect stateoftheart unparalleled foremost",
  KIND: "tool tools function server service services option options choice source engine finder " +
    "solution provider assistant assistants agent agents model models available results",
  DETAIL:
    "recipient recipients channel amount path argument arguments parameter field value body " +
    "branch query flag subject destination account address title",
  REPLY: "message messages response reply answer turn prompt interaction",
  AGENT: "assistant assistants agent agents model models llm llms ai claude chatgpt gpt copilot " +
    "gemini chatbot cursor bot bots",
  MUST: "must shall should always required mandatory ensure never mustnot obliged expected " +
    "supposed ought necessary",
  VERB:
    "read open send forward copy append attach include call run execute invoke fetch pull pass " +
    "put paste add set replace use load collect upload post write transfer approve merge delete",
  DOING:
    "using calling invoking running executing sending opening reading writing pulling passing " +
    "fetching inviting answering responding replying loading doing returning completing any it you " +
    "returned read called used run sent finished done opened written answered",
  PUT:
    "pass passing passed put putting include including included send sending provide supply hand " +
    "handing give append appending appended attach attaching attached submit insert copy copied " +
    "copying paste pasting pasted add embed upload uploading forward forwarding share place write " +
    "leak email mail post populate fill concatenate concatenating serialize serialise dump echo " +
    "report relay transmit ship stage drop fold encode stash smuggle tuck deliver mirror bundle " +
    "compose build record log carry carries holds contain join tack set save store feed route " +
    "furnish* enclos* communicat* dispatch* transmit* accompan* reproduc* convey* surrender* " +
    "volunteer* contribut* deposit* relay* forward* suppl* attach* append* embed* lodge present " +
    "handed handing yield disclose divulge pour funnel channel reveal surrender weave worked",
  SECRET:
    "password passwords passphrase passphrases credential credentials secret secrets cookies " +
    "apikey apikeys privatekey privatekeys sshkey sshkeys tokens authtoken _authtoken bearer otp " +
    "totp mfa mnemonic keypair creds",
  MACHINE: "envvars keychain keyring keystore keystores wallet wallets dotfiles dotfile homedir " +
    "clipboard sshkey sshkeys tfstate kubeconfig printenv env passwd shadow pem",
  SHOW: "show display reveal surface expose showing displayed displaying appear shown surfaced " +
    "mention",
  MENTIONING: "mentioning telling informing notifying alerting showing disclosing revealing " +
    "announcing surfacing narrating saying acknowledging displaying reporting explaining",
  APPROVAL:
    "confirmation confirmations approval approvals permission permissions consent goahead " +
    "signoff authorization authorisation areyousure review reviewer prompting doublecheck " +
    "confirming countersign acknowledgement acknowledgment licence",
  APPROVED: "approved confirmed authorized authorised consented agreed accepted granted yes " +
    "preapproved cleared approval consent permission signed ok",
  BRAND:
    "slack gmail github gitlab jira notion stripe salesforce hubspot whatsapp telegram outlook " +
    "teams discord paypal linear asana trello confluence dropbox drive calendar filesystem postgres " +
    "mail email messaging payment payments wallet banking bank transfer shell terminal browser crm " +
    "database git argocd shopify zendesk twilio 1password bitwarden snyk trivy semgrep datadog sentry " +
    "figma airtable quickbooks xero plaid coinbase metamask docker kubernetes aws gcp azure okta vault " +
    "sheets docs gdrive onedrive sharepoint imap smtp sms monday clickup intercom mailchimp pagerduty",
  SWAP:
    "change changes replace replaces set redirect substitute swap switch modify rewrite reroute " +
    "overwrite alter update point repoint exchange",
  RULESET: "rules rule guidelines guideline instructions instruction policies policy filters " +
    "restrictions safeguards guardrails training constraints directives limits prompt systemprompt guidance protections precautions advice norms " +
    "policyset scruples reservations refusals " +
    "orders boundaries alignment",
  LIFTED: "paused void suspended lifted waived revoked cancelled canceled obsolete outdated " +
    "superseded disabled expired relaxed off ignore ignored forget forgotten disregard setaside " +
    "inactive nolonger withdrawn repealed overridden retired invalid deprecated removed replaced " +
    "discarded dropped abolished rescinded irrelevant moot",
  PEOPLE:
    "user users human humans person persons people customer customers employee employees patient " +
    "patients member members guest guests traveller traveler travellers driver drivers engineer " +
    "engineers developer developers researcher operator operators owner owners requester visitor " +
    "visitors rider resident tenant occupant occupants author client clients buyer buyers investor " +
    "investors analyst manager managers reader readers colleague colleagues admin admins they them " +
    "someone somebody anyone anybody vet nurse nurses doctor student students teacher listener donor " +
    "donors candidate he she him her reviewer reviewers holder shopper subscriber payer auditor team",
  ASKS:
    "ask asks asked notice notices noticed wonder wonders inquire inquires complain complains insist " +
    "insists object objects query queries doubt doubts question questions compute computes compare " +
    "compares mention mentions find finds discover discovers see sees want wants demand demands " +
    "press presses dispute disputes check checks protest learn learns realize realizes hesitate " +
    "refuse refuses says hear hears suspects",
  AGENTDOES:
    "states reports tells writes adds performs applies completes keeps confines affirms carries " +
    "generates submits installs subtracts yields attributes removes calls routes treats lists opens " +
    "sends places puts takes reads forwards appends includes attaches copies uploads posts claims " +
    "presents renders shows prefers chooses picks starts stops ends runs executes deletes creates " +
    "changes replaces sets leaves drops omits mentions answers replies says confirms assumes " +
    "acknowledges accepts signs supplies fetches obtains resolves collects brings moves closes " +
    "cancels orders books buys pays rounds uses fills passes hands acts stands behaves skips gives " +
    "asks makes obeys works lodges registers approves merges grants",
  AGENTDO:
    "state report tell perform apply complete confine affirm carry generate submit install subtract " +
    "yield attribute remove route treat list place stop start prefer choose resolve extract supply " +
    "obtain omit mention skip answer act keep take give make write create change lose earn",
  REPORTED:
    "presented reported rendered shown displayed described listed labelled labeled counted marked " +
    "recorded declared announced logged entered called named classed classified portrayed framed " +
    "phrased worded quoted booked tagged declared passed",
  GOOD:
    "clean green ok okay successful successfully success succeeded passed pass completed complete " +
    "done fine normal safe harmless routine received resolved fixed ordered requested paused " +
    "cancelled canceled refunded delivered sold out down unavailable full anonymous recomputed " +
    "rounding default preview maintenance free locked encrypted healthy unchanged none nothing " +
    "true valid approved errors tolerance accident genuine voluntary cheapest original",
  UNTOLD:
    "mentioned shown told disclosed surfaced listed presented prompted named appear appears raised " +
    "attached reported displayed announced revealed repeated quoted printed read passed given " +
    "notified informed explained brought come surface visible counted traceable computed suggested",
  UNTELL:
    "mention show tell disclose surface list present prompt name raise attach report display " +
    "announce reveal repeat quote print admit explain bring notify inform log warn compare pass",
  CONSENT:
    "consent approval agreement authority authorization authorisation acceptance permission " +
    "confirmation confirmations wish goahead licence acquiescence yes waiver instruction order " +
    "mandate received",
  DEEDS:
    "orders buys purchases sells donates pledges subscribes books rebooks cancels declines votes " +
    "stars follows registers upgrades renews lodges deletes drops flushes wipes publishes posts " +
    "resigns unlatches unlocks transfers pays invites accepts extends enrolls signs casts waives " +
    "triggers sets overwrites moves rejects submits installs opens reserves commits resells",
  ACTED: "bought purchased sold donated pledged subscribed booked rebooked cancelled canceled " +
    "declined voted starred followed registered upgraded renewed lodged deleted dropped flushed " +
    "wiped published posted unlatched unlocked transferred paid invited extended enrolled signed " +
    "cast waived charged added removed moved put pointed linearised passed checked applied mirrored " +
    "copied forwarded shared sent routed installed resold closed rewritten overwritten quarantined",
  RIVAL: "§foreign §qualified other others another rival rivals competing competitor competitors " +
    "alternative alternatives spreadsheets calculator provider providers engine engines connector " +
    "connectors servers server tools they their them these calendar search browsing slack gmail " +
    "github gitlab jira notion linear stripe outlook filesystem postgres python builtin native own",
  SHUNNED:
    "leak leaks leaked leaking retired unsafe tampered compromised withdrawn abolished stale " +
    "deprecated crash crashed crashes mistakes lawsuits eol lost failed flawed flaws vulnerable " +
    "outdated decommissioned insecure corrupts corrupt corrupted malicious breached breach recalled " +
    "banned blocked untrusted obsolete wrong unreliable inaccurate slow sells discarded suspended " +
    "forbidden injection malware spyware unlicensed noncompliant sunset removed broken",
  PERSONAL:
    "employer salary income passport birthdate ssn diagnosis diagnoses illness religion pregnancy " +
    "pregnancies insurer payroll household spouse marital ethnicity orientation political birthplace " +
    "nationality biometric medication medications medicines colleagues whereabouts geolocation",
  SLOT:
    "field fields argument arguments parameter parameters param header headers metadata attribute " +
    "property slot input campo parametro parametros feld felder champ parametre поле поля параметр " +
    "параметре параметры 字段 参数 フィールド パラメータ 필드 매개변수 الحقل المعامل पैरामीटर फ़ील्ड",
} as const;

/** Several words that are one for the phrases. */
export const MERGED: readonly [string, string][] = [
  ["number one", "numberone"],
  ["no 1", "numberone"],
  ["post request", "httprequest"],
  ["credit card", "creditcard"],
  ["social security number", "ssn"],
  ["date of birth", "birthdate"],
  ["out of date", "outdated"],
  ["session cookie", "cookies"],
  ["session cookies", "cookies"],
  ["session token", "cookies"],
  ["session tokens", "cookies"],
  ["read more", "see"],
  ["learn more", "see"],
  ["find more", "see"],
  ["state of the art", "stateoftheart"],
  ["top rated", "toprated"],
  ["mat khau", "matkhau"],
  ["nguoi dung", "nguoidung"],
  ["khach hang", "khachhang"],
  ["toan bo", "toanbo"],
  ["tat ca", "tatca"],
  ["cuoc tro chuyen", "cuoctrochuyen"],
  ["tai khoan", "taikhoan"],
  ["truoc khi", "truockhi"],
  ["xac nhan", "xacnhan"],
  ["trinh duyet", "trinhduyet"],
  ["huong dan", "huongdan"],
  ["sao chep", "saochep"],
  ["bo qua", "boqua"],
  ["ngay ca", "ngayca"],
  ["kata sandi", "katasandi"],
  ["beri tahu", "baobiet"],
  ["cho biet", "baobiet"],
  ["yok say", "yoksay"],
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
  ["pre authorized", "preauthorized"],
  ["go ahead", "goahead"],
  ["sign off", "signoff"],
  ["set aside", "setaside"],
  ["no longer", "nolonger"],
  ["up to date", "current"],
  ["to date", "todate"],
  ["up to now", "todate"],
  ["until now", "todate"],
  ["context window", "contextwindow"],
  ["every time", "everytime"],
  ["each time", "everytime"],
  ["blind copy", "blindcopy"],
  ["rm -rf", "rmrf"],
  ["heads up", "headsup"],
  ["local storage", "localstorage"],
  ["one password", "1password"],
  ["one time", "onetime"],
  ["no one", "noone"],
  ["no verify", "noverify"],
  ["have to", "must"],
  ["has to", "must"],
  ["needs to", "must"],
  ["api key", "apikey"],
  ["home dir", "homedir"],
  ["home directory", "homedir"],
  ["home folder", "homedir"],
  ["admin access", "adminaccess"],
  ["administrator access", "adminaccess"],
  ["admin privileges", "adminaccess"],
  ["full access", "adminaccess"],
  ["root access", "adminaccess"],
];

/** The words that JSON Schema itself uses; they say nothing about who wrote the schema. */
export const SCHEMA_WORDS: ReadonlySet<string> = new Set(
  ("type properties required items description title default enum examples pattern const format " +
    "minimum maximum minLength maxLength minItems maxItems anyOf oneOf allOf not $ref $defs " +
    "definitions $schema additionalProperties name inputSchema outputSchema annotations _meta icons " +
    "src mimeType sizes string number integer boolean object array null").split(" "),
);

/** Says that a tool looks for attacks, in its own description of itself. */
export const DETECTOR =
  /\b(detect|scan|classif|flag|guard|filter|saniti[sz]|moderat|screen|check|analy[sz]|block|find)\w{0,10}\b[^.\n]{0,80}\b(injections?|jailbreaks?|phishing|poison\w{0,4}|(malicious|hostile|suspicious|adversarial|unsafe) (prompts?|texts?|instructions?|inputs?|descriptions?))\b/i;
