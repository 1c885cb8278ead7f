/**
 * Written by bench/scanner/train.ts, see docs/adr/0012. Points of signs, and how much a word speaks
 * for an order to a model (above zero) or for plain documentation (below); of words the beginnings,
 * seven letters at most. No word is telling by itself: a sentence is judged by all of them, and only
 * where it has signs as well.
 */
export const POINTS: ReadonlyMap<string, number> = new Map([
  ["address", 2.5],
  ["against", 3.5],
  ["asked-in-parameter", 1],
  ["cipher", 5],
  ["collects", 3.5],
  ["context", 3],
  ["danger", 3.5],
  ["displace", 1.5],
  ["divert", 2],
  ["elsewhere", 3.5],
  ["extra", 1],
  ["hand-over", 1],
  ["hide", 4.5],
  ["lasting", 2],
  ["lie", 3.5],
  ["lifted", 6],
  ["machine", 4],
  ["model", 0.5],
  ["money", 1],
  ["obey", 4.5],
  ["order", 0.5],
  ["people", 0.5],
  ["personal", 2.5],
  ["promote", 3.5],
  ["quiet", 4],
  ["reply", 0.5],
  ["reshape", 6.5],
  ["rewire", 0.5],
  ["role", 2],
  ["secret", 3],
  ["slot", 0.5],
  ["talk", 2],
  ["trigger", 0.5],
  ["unaltered", 1],
  ["unasked", 4],
  ["voice", 1],
  ["whole", 1],
]);

/** What a tool does is said first, orders come later; and some places are none for sentences. */
export const PLACES = { later: 2.5, odd: 3 };

const BY_WEIGHT: readonly (readonly [number, string])[] = [
  [4.5, "assista our ours servers §hard"],
  [4, "chat person persons session"],
  [3.5, "approve card de line makes rule run ssh wheneve §dotfil §email"],
  [
    3,
    "adminis agents always append everyti grant instruc la off put rights say server. us " +
    "whateve §foreig §host и",
  ],
  [
    2.5,
    "& anythin booked confide decode des die hand here hostnam last me officia opens " +
    "operato others part partner place plan que relay supply tool treat в ツール",
  ],
  [
    2,
    "argumen asked asking bank been caller command develop dialogu directi disk docs dump " +
    "each earlier employe en everyth extra home homedir host into invoke leave locale ne " +
    "neednot newline nicht nobody passwor paste persona pick please prompts reading " +
    "recomme refusal server shell shown ten through ticket transcr und va ve verbati we " +
    "wording yes §number §server すべて 不要 入れて 利用者 对话 必ず 所有",
  ],
  [
    1.5,
    "act add address afterwa agent among answers anyone as at audit auditor bar behind " +
    "book bundle called carry closed comply connect convhis copia copy dan deletio den " +
    "der diagnos dialog do doing eht este et every exclusi experie five gh http:// i im " +
    "invisib its kullani label las le listing lock messeng model moved na namespa obey " +
    "offset out output overrid permiss previou print printen private profile public " +
    "reasoni reasons recent refunds region reply report rows se should si side sie so " +
    "speak spoken swap switch system table take telemet though today try typed unmenti " +
    "upload users whichev ~/.ssh/ §url счёт الحقل كامل مستخدم उपयोगकर 工具 用户 계좌 도구 바꾸 항상",
  ],
  [
    1,
    "-- account agree airline along also answer anterio anthrop ao appear applied aside " +
    "asks attach away bash benefit bisheri blank board bootstr bother bring browser bug " +
    "bytes cada call champ charge chats checksu ci comes coming compare compte concate " +
    "conside consign content context convers cookies dans das debug debuggi departm di " +
    "digest disable door down drafts drive drops du duplica duratio e edit encoded engine " +
    "environ even execute export externa favor fetchin figure figures files final fine " +
    "fingerp fresh front fully gb give goes gur had have hence hidden improve inaccur " +
    "interpr invoice it joined just ke keys konto leading let letters library lies lines " +
    "live lo loaded locate log look lookup mails market matter memo mit moment month " +
    "monthly naq needs network nguoidu no none notes nutzer offer ohne openai optimal " +
    "otherwi page.ig para paragra pas passing pay payee pin pipelin placed plus postins " +
    "precede publish quantit qui raises readers real recap receipt recorde recover ref " +
    "refresh reliabl repeat reposit respond rest right ruckfra running sandbox scanner " +
    "schemas second securit seed selecto semicol send sending sentenc service several " +
    "shall share snippet someone soon sources staging standin starts stay steht straigh " +
    "switche systemp target tempora tenant testing than there things times timezon too " +
    "touch trail travell trying umgebun unabrid vendor verific verify visibil vous wait " +
    "weather while withhol wonders workspa yearly yet you your §danger §qualif а на не " +
    "перед передай подтвер поле получат прочита с спрашив у файл что न भेज システムプロン 会話 全文 " +
    "全部 其他 系统提示 読み 먼저",
  ],
  [
    0.5,
    "$ + // /bin/sh /etc/sh <!-- about accordi acme alerts amount anonymo answere antes " +
    "any apart appel apply approva archive arquivo asisten assiste attache auch aunque " +
    "außerde avant b back backup backwar bcc be before beforeh begins behalf belongs " +
    "benutze best between block bodies borra both box brief broken builds by c calenda " +
    "camera campo carried cat chaque chat.to childre chmod choice city clients close come " +
    "competi compute con convert cookie copie copied correo count csv ctx cuenta d daolpu " +
    "darauf date davon day demande deposit derived desktop differe diffs disturb dna " +
    "draft during dvkestr echo editors ein eine else em enclose entry env esta eur expect " +
    "expiry facilit family faster feed feld filesys filled finish folder folders followe " +
    "force forecas forty forward fragmen functio gather gebruik gesamte gesprac github " +
    "gmail good got group guest guests guidanc guideli handed hash helper herrami het hex " +
    "hint hinzuwe hits holding hosts hour house human identit ignore import importa in " +
    "income index informe initial inseris insight insuran integer integra invite ist " +
    "joignez keeps key keychai kindly larger les license lifted lintegr lisez living llet " +
    "loading locales locked logged login logins looking made main malware mandato mark " +
    "materia mean member members memory mention meta money mood move my n nada named " +
    "names nc nel newest nichts non nota note nothing notice observe of office oldest on " +
    "one op opened order organis origin origina ort os.syst ot otra outgoin outrank paid " +
    "paramet parler passed passes passpor patient pedir penggun phrase picked picture " +
    "points positio prefix prepend price priorit privile problem process produce product " +
    "proof properl propose publicl quality quiet quietly r raise rates rather raw reachab " +
    "read reader recentl recopie red referen release remark reporti reprodu reserva " +
    "reserve restart restore retry reviewe road room root round rounded roundin routine " +
    "routing s said sample sans scan scope score screen script search seconds select " +
    "selecte sem senza separat serve sh shared shop shorten showing shows sides signatu " +
    "signed silence similar simply site sizes skipped slash song space spaces stands " +
    "startup stateme stets stores stripe. submit substit success sudo sum sums supplie " +
    "sync tag tags talk te termina texts thank that theme themsel these thing thirty " +
    "those three tickets tier todate todo togethe token tone touches town trace traceab " +
    "traffic transfe trust trusted trustwo twenty twentyf ubergib un unchang unread up " +
    "uploadi urlenco usual usuario utilise uzytkow viremen wallet warehou wenn what " +
    "whatsap why window with working wrote year yours yoursel zonder zu ~ ~/.aws/ ~/.bash " +
    "§soft их содержи المحادث पढ़ें पूरी बातचीत सभी सामग्री 之前 完整 无需 确认 넣고",
  ],
  [
    -0.5,
    "$search $select $top /api/ho /api/re /home/u @odata. abc above accepts accessi " +
    "across actions adds advice affecte again age agencyh alert alexand althoug an " +
    "another apps are args arrays assets associa attachm attempt author authori autodep " +
    "avatar avoid azure basic because becomes beginni being binary blocks boolean build " +
    "builtin burn busy campaig cancel cant capabil cases catalog categor cells checkou " +
    "chosen chunks classif cli clickab closes cloud code colleag columns combina common " +
    "complet compone compreh configu consume contain contrad counter country counts cover " +
    "covers createb creatin creatio credit critica cron crossch currenc cursor data " +
    "dataset dates days dc deactiv deals decisio delta deploye designe details detect " +
    "device did disease dkim dns docker documen doesnt double dropped duty ecommer edges " +
    "editing edits educati effect effecti embed enable enabled enables encrypt ended " +
    "ensure entries envvars epoch everybo everyon exact exactly excepti exclude exist " +
    "exit experim expirat expires explain explana explore extensi failed failure fall far " +
    "feature fees fetch fewer file filters finds finishe firewal first flag focused font " +
    "formats forms formula free from fronten game gate gave generic getting global goal " +
    "happens heading health high holds hours however http ignores inbox indicat individ " +
    "info inherit interfa interna invento irrever isonlin issues item javascr jobs " +
    "kilogra kind knows labels latitud least level limited links llm logic logs longer " +
    "longitu mail maintai make manage managed marketi matched matchin mechani meeting " +
    "merge metadat middle migrate mint minute missing models modifie monitor most mostly " +
    "multidi mutatio need nolonge nor normali normall notatio o observa obtaine offerin " +
    "oneoff online opinion outboun overvie owns pages paginat pairs pause period persist " +
    "photos placeho places platfor policy poll pool post power practic prefer prerequ " +
    "present privacy progres prompt proper proposa protect protoco providi provisi proxy " +
    "puts python queries queued quick quoted range ranges ratelim reach react receive " +
    "recordi recreat rejecte related relativ remote remove renders reporte reports " +
    "represe reset resolve result reveal revoked row runtime safe safety san saves saving " +
    "scans schedul school scripts searchi secrets see sees segment selecti sender sender@ " +
    "sends series setup shippin short signedi signing silentl single size slug small smtp " +
    "snapsho softwar solutio some spec special sshkeys stack staff standal stars started " +
    "startin static statuse step steps still stops storage store stream structu styles " +
    "subdire submiss suggest sure synced tab tabular taken targete task tasks team teams " +
    "test their them they think timesta tld tokens told tomorro took tools toon topic " +
    "touchin transac travel truncat turns tus una underly underst undone unique unit unix " +
    "unused urls usd useful usernam usually utc valid validat value variant various " +
    "verifie view volumes waiting wants warn was webhook weburl well wellkno were where " +
    "whois wins within wordpre works worth wrap write zip zone → 内容 内容を 必须 获取 사용자",
  ],
  [
    -1,
    "## $filter = [ against analysi analyze annotat applica applyin assigne asynchr " +
    "authent backgro based bearer better broad bulk catch certifi chain change changin " +
    "channel checked classic cloned combine commase comment compose conditi conflic " +
    "consist console contenu conveni cooked corresp creates credent current databas " +
    "definit delegat deleted depends destina detail detaile devuelv dir disagre disconn " +
    "discove domains doublec editor either element emit end entire entity eq errors " +
    "expensi express extract fails field filter filteri find followu for further git " +
    "graph guide header highlig hosted hpanel html https https:/ image images inputs " +
    "inspect interac invalid invited is items itself latest layout leaves length less " +
    "llms lost lower machine manuall markdow marked marking masked matches matters mcp " +
    "means method minimal minimum mock moderat more multipl muted navigat node not " +
    "notific numbers omit omitted ones openapi optimiz outline overhea overwri own " +
    "partial parts php point preserv prevent preview project purchas purpose reaches " +
    "readonl reason redirec regions relevan request researc robots. role roles runs says " +
    "scenari seems selects sensiti sequenc shares simpler smalles specify sshkey stabili " +
    "standar stored strateg subject subscri subsequ subset succeed support syntax takes " +
    "templat then theyll threadi throttl to total treated tried two unavail unfilte " +
    "updated updates using uuid uups variabl visible vps way web werden when which words " +
    "would x ~/.ssh §cmd §envnam §handle 前に",
  ],
  [
    -1.5,
    ".env.ex accepta accepte action activit after agreed ai allow allows anew apis array " +
    "behavio below branch but charact checkli child clear color company could created crm " +
    "custom default deploym directo does emailad empty error etc existin exists explici " +
    "fail falls false gas generat get gets given guess handles higher hosting how include " +
    "increas instanc job json left limit local locatio maximum moving mutate object " +
    "objects often once operati outlook ownersh parent per prices questio quotes recipie " +
    "regardl remembe removes renvoie replace retriev return screens secret set sets " +
    "sharepo somebod son such summary thread tip topleve true typical update used user " +
    "uses via virtual weeks whole whom whose without если — ⚠",
  ],
  [
    -2,
    "$replic a access active already ask attribu automat calling chapter compani config " +
    "contact depende directl domain email events example few fits h ids large lists " +
    "microso must mustnot never new npm null only options path paths payload plaines " +
    "printed show somethi source start state summari trigger twice url use version " +
    "website whether whoever wrong 💡",
  ],
  [
    -2.5,
    "apikey body cannot desired dont fields fill identif informa install other owner pass " +
    "require returne schema searche seen shouldn status type unless until values",
  ],
  [
    -3,
    "\\ availab changes cost display headers may number optiona or organiz propert resourc " +
    "specifi stays",
  ],
  [-3.5, "changed permane provide want will"],
  [-4, "- can mailbox respons returns same"],
  [-4.5, "e.g endpoin format id"],
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
