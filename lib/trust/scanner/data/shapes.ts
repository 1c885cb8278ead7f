/** What a word is by its shape. */
export const SHAPES: readonly [string, RegExp][] = [
  ["§leak", /^https?:\/\/[^\s]{0,200}[?&][^=\s]{0,40}=[^\s]{0,10}[{<$[]|^[<{]\w+[>}]\.[\w.-]+$/],
  [
    "§harvest",
    /^https?:\/\/[^\s{<$[]{0,200}[{<$[][\w $-]{0,60}(transcript|conversation|contents|chat|history|secret|prompt|passw|environ|\.env|messages)/,
  ],
  ["§url", /^https?:\/\/./],
  ["§email", /^[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,6}$/],
  [
    "§host",
    /^[\w-]{2,63}(\.[\w-]{1,63}){0,4}\.(com|net|org|io|co|xyz|ru|cn|test|info|site|online|sh|cc|top|example|invalid|dev|app|cloud|link|biz|pw|su|ws|tk|de|fr|eu|uk|br|in)(\/\S{0,200})?$/,
  ],
  ["§number", /^(\+\d{7,15}|0x[0-9a-f]{20,64}|[a-z]{2}\d{2}[a-z0-9]{0,30}|\d{6,34})$/],
  [
    "§hard",
    /\.ssh(\/|$)|\bid_(rsa|ed25519|ecdsa|dsa)\b|\/etc\/(passwd|shadow|sudoers)|\.aws\/(credentials|config)|\.netrc$|\.git-credentials|\.gnupg|\.pgpass|\.pypirc|(^|[\/\\])mcp\.json$|claude_desktop_config|\.claude\.json|\.cursor\/|(bash|zsh)_history|wallet\.dat|application_default_credentials|\.vault-token|login data|cookies\.sqlite|^\*\.(pem|key)$/,
  ],
  [
    "§soft",
    /(^|\/)\.env(\.\w+)?$|\.npmrc$|kubeconfig|\.kube(\/config)?|\.docker\/config|^credentials\.\w{2,5}$|^secrets?\.(json|ya?ml|toml|env)$|service[-_]account\.json$|\.htpasswd$/,
  ],
  [
    "§dotfile",
    /^(~|\$home|%userprofile%)[\/\\]\S|^\.[a-z][\w-]*rc$|\.(pem|p12|pfx|keystore|kdbx|tfstate|tfvars|ovpn|sqlite)$|^\/(etc|root|proc)\/|^id\.json$|^seed\.txt$|^passwords?\.\w+$/,
  ],
  [
    "§danger",
    /autoapprove|dangerously|bypass_?permissions|skip[-_]?permissions|no[-_]verify|nopasswd|^--?yolo|allow[-_]?all|permissions\.allow|^\.claude\/settings/,
  ],
  ["§bucket", /^(gs|s3|ftp|sftp|webdav|ssh|wss?|mailto|dns|tcp|r2):\/{0,2}\S/],
  ["§handle", /^[#@][a-z][\w.-]{2,}$/],
  ["§startup", /\.(bashrc|zshrc|profile|bash_profile)$|authorized_keys|^crontab$/],
  [
    "§envname",
    /^\$?\{?(?!(next_)?(page|continuation|sync|cursor)_)[a-z][a-z0-9]*(_[a-z0-9]+)*_(key|token|secret|password|pat|credentials?)s?(_id)?\}?$/,
  ],
];
/** Commands that show what a machine holds, set apart as code. */
export const COMMANDS: ReadonlySet<string> = new Set(
  ("env printenv cat whoami security gcloud kubectl aws gh git curl wget printf ls ps history set " +
    "export gpg ssh scp base64 find grep tar zip sudo id hostname defaults reg powershell python3")
    .split(" "),
);

/** Where a sentence or its main clause begins with one of these, it tells the reader to act. */
export const ACTS: ReadonlySet<string> = new Set(
  ("accept act add advise alter amend answer append apply approve arrange ask assure attach attribute " +
    "avoid base64 blame bring buy call cancel cast change charge claim clear close collect commit " +
    "continue copy count cut decline delete deny describe disable display donate drop email emit empty " +
    "encode execute export extract file flush follow force force-push forcepush forward give go grant " +
    "halve hand hide ignore include increase insert insist install invent invite keep label leave let " +
    "lift lower mail make mark mention merge move multiply name obey offer omit open order overwrite " +
    "pad pass paste pay pick pipe place play point post praise prefer prepend present pretend promise " +
    "publish push put quote raise rank rate read rebook reboot recommend record redirect refuse register " +
    "reject remove rename render repeat replace reply report repost resolve respond reveal rewrite round " +
    "route run say schedule sell send set share ship shift show sign skip spare speak split star start " +
    "state steer stick stop strip subscribe subtract suggest supply suppress swap switch take tell tick " +
    "transfer treat trust turn unlock unsubscribe upgrade upload vote warn wipe withhold wrap write")
    .split(" "),
);

/** What names of tools begin with, as `export_context` does. */
export const TOOL_VERBS =
  "add|analyze|append|approve|archive|audit|backup|browser|cancel|capture|check|collect|commit|copy|" +
  "create|delete|deploy|disable|download|edit|enable|execute|exfiltrate|export|extract|fetch|find|" +
  "forward|gather|get|grant|init|initialize|insert|list|load|log|mail|merge|mirror|move|notify|open|" +
  "pay|ping|post|publish|push|put|query|read|record|register|relay|remove|report|reset|restart|run|" +
  "save|scan|search|send|set|share|shell|ship|store|submit|sync|track|transfer|update|upload|" +
  "validate|verify|write";

/** Letters of scripts whose words are found as pieces of text: no spaces, or joined small words. */
export const JOINED =
  /[\u0590-\u06FF\u0900-\u09FF\u0E00-\u0E7F\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]/;
