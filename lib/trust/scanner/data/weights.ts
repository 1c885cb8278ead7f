/**
 * Written by bench/scanner/train.ts, see docs/adr/0012. Points of signs, and how much a word speaks
 * for an order to a model (above zero) or for plain documentation (below); of words the beginnings,
 * seven letters at most. No word is telling by itself: a sentence is judged by all of them, and only
 * where it has signs as well.
 */
export const POINTS: ReadonlyMap<string, number> = new Map([
  ["address", 2.5],
  ["against", 5],
  ["asked-in-parameter", 0.5],
  ["calls", 3],
  ["cipher", 5],
  ["collects", 3],
  ["context", 4],
  ["danger", 3.5],
  ["displace", 2],
  ["divert", 3],
  ["elsewhere", 3.5],
  ["exclusive", 1.5],
  ["extra", 1],
  ["hand-over", 1],
  ["hide", 5],
  ["lasting", 2],
  ["lie", 4],
  ["lifted", 6.5],
  ["machine", 4],
  ["model", 0.5],
  ["money", 1],
  ["obey", 4],
  ["order", 0.5],
  ["people", 0.5],
  ["personal", 2],
  ["phish", 3.5],
  ["plant", 2.5],
  ["praise", 7],
  ["promote", 2],
  ["quiet", 3.5],
  ["reply", 1],
  ["reshape", 6],
  ["rewire", 0.5],
  ["role", 2],
  ["secret", 3],
  ["slot", 2.5],
  ["talk", 2.5],
  ["trigger", 0.5],
  ["unaltered", 0.5],
  ["unasked", 4.5],
  ["voice", 1.5],
  ["whole", 0.5],
]);

/** What a tool does is said first, orders come later; and some places are none for sentences. */
export const PLACES = { later: 2.5, odd: 2 };

const BY_WEIGHT: readonly (readonly [number, string])[] = [
  [4.5, "assista our servers §email §hard"],
  [4, "chat"],
  [
    3.5,
    "anythin command de develop everyth export here ours pick prior put session talk " +
    "§dotfil §foreig",
  ],
  [
    3,
    "card cookies delete guideli homedir intent last mbox person persons respond too tool " +
    "tracing vendor wheneve",
  ],
  [
    2.5,
    "add address adminis agents append approve asks audit bank each every everyti gathere " +
    "host know la makes me off operate pretend print report rights safety say securit " +
    "site ssh suggest ten ultimat и",
  ],
  [
    2,
    "& account act afterwa always answers anyone argumen asked book booked builtin " +
    "convers copied decode des die do down dump expiry explain extra forward grant hand " +
    "insecur instruc interfe kestrel le learns leave legitim line matter mention neednot " +
    "needs officia operato others overrid part partner passwor place please postins " +
    "printen prove que reasoni relay reply reposit run safe script selecte shell should " +
    "sources systemp take talked todos transcr twofact und users wants whateve workspa " +
    "§envnam §host §number ツール 入れて 所有",
  ],
  [
    1.5,
    "additio along applica attachm bash board chainof chooses closed cluster compare " +
    "confide connect contain continu convhis copia copy deletio den derived descrip " +
    "diagnos dialogu differe direct directi disable discrep disk disrega dropped e " +
    "employe en entire environ et externa fare faster feed fills fromnow git hide holding " +
    "home http:// ignore im images import@ informe invoice it later led legally log " +
    "logged mails mood moved na name ne necessa neglige nicht notice obey obeyed opens " +
    "page palette party paste pem persona phone plan public queries quiet readers reading " +
    "recap refresh refuse rely remote removed rest rule said send server server. service " +
    "several showing shown slow slows small so spoken started steal submitt sudo supply " +
    "tells that things third though today tools treat trying turns typed upload ve we " +
    "weather while work yes ~/.ssh/ §server §tool §url в すべて 不要 利用者 对话 工具 必ず",
  ],
  [
    1,
    "% -- ./.cach .ssh accurat achieve again agent agree airline all among announc " +
    "anonymi answer answere apples apply as asking attach attache auditor authors autoapp " +
    "away backup been begin behind benefit bootstr brand brokera bundle cada calcula " +
    "called carry champ charge chat.to chats choosin city client closes closing comes " +
    "comment competi complet comply compres comprom compte compute consist content " +
    "context contrad creditc csv d dan dans debug debuggi depreca der di dialog discuss " +
    "door drafts drive drop du earlier eht elsewhe env erase este exist fastaut fee " +
    "fetched figures file files filled fine five flexibl fold formali fresh front fully " +
    "fund garbles gh give gur had harmful hereby hex hints hostnam hr i iban inform " +
    "insert into invalid invest invisib its ke kubecon kullani label las leading library " +
    "lifted like likes list lock login manual mark messeng models modific mustnot naq " +
    "native newest newline nguoidu none nota notes nutzer of offset ohne old opened out " +
    "output overall page.ig pas passed payee phrase point policy praises pretext price " +
    "prints private probe problem process prod product profile prompts properl reasons " +
    "receipt recomme recorde recover ref refunds refusal render repeat resulti reviewe " +
    "rows ruckfra safer sans scaffol scan se search seed selecto semicol sh si sie signed " +
    "somebod someone speak standin steht still style success swap system table tenant " +
    "termina texts through togethe tone trailer transfe trash turn umgebun unedite " +
    "unsafen us usage usuario va validat verbati verifyi visibil vous wcarchi whichev who " +
    "why wonders wording yet you your §bucket §cmd §danger на передай подтвер поле " +
    "прочита с спрашив счёт у файл что الحقل كامل مستخدم उपयोगकर न भेज 会話 全文 其他 読み 계좌 도구 " +
    "먼저 바꾸 항상",
  ],
  [
    0.5,
    "$ .cursor .key .npmrc .pem // /bin/sh /etc/sh <!-- @ext-ma @palett alerts also " +
    "alterna altro amount anonymo anterio antes anthrop any ao appear archive around " +
    "arquivo aside asisten assuran assure at attende aunque auth.us außerde avant back " +
    "backend backgro basis beforeh beginni begins being belongs benutze between bill bind " +
    "birthda bisheri blank block board-d bodies booking borra both branch brief bring " +
    "browser bug bukb by c calenda call campo carried cat checks checksu childre chmod " +
    "choose ci citatio claude. cleanup collaps coming compari complia con concate config/ " +
    "confirm consign copie correo cover created cuenta cut daolpu darauf das data davon " +
    "degrade demande departm desktop destruc details diff digest disagre disappo dna docs " +
    "doing dot draft drafted drops earn echo ein eine emails emergen enclose encode " +
    "encoded ending engine enthusi eslint esta exa exclusi execute expect expects experie " +
    "experts facilit failing falsifi family far favor feld fetchin figure filesys final " +
    "finds finish fixing flag force forget formed found fragmen from ftp://a functio gb " +
    "gebruik gesamte gesprac github glossar gmail goes good got group guest guests " +
    "guidanc have hello helper hence herrami het hidden hint hinzuwe hold hosts hour " +
    "house human identit improve in indexed indexur inhalt inquire inseris install " +
    "integer integra interfa interpr interru invite invoke irce ist itself joignez joined " +
    "joins just keeps key keychai keys kindly konto labs lamp leads les letters license " +
    "lies lintegr lisez listing living llet lo loaded loading loads locale locate locked " +
    "logins look looking m main market marketi materia mean member members memo memory " +
    "merging meta minifie mit model moment money monitor month much nada named namespa " +
    "nbaccel nc nel nichts no nobody nolonge none.</ normall note novapdf numbero offer " +
    "oldest order orders origin ort os.syst ot otherwi otra outputs outrank package para " +
    "paragra passes passing passpor patient pay payable penggun perform permiss picked " +
    "pin pip pipes placed plus por portal postgre precede precedi prefix prepend present " +
    "previou prima produce proof publicl publish pw quality quantit queue qui quietly " +
    "raises rank rated rates read reader recent recopie record referen regardl region " +
    "release reliabl remark renderi reports reprodu reserva reserve resolve restart " +
    "restore results round routes routine routing s salarie salvate sample sandbox save " +
    "scanner seconds sees select serve setup shall share shared shop side sidenot sides " +
    "sign signatu silence sizes slack slash sms snippet sold songs soon sorts sounds " +
    "space spaces src=htt ssn staging starts startup stateme stay staypri stets stores " +
    "straigh strumen submit substit sum sums superse supplie switch switche tag task>cl " +
    "tavily te telemet tempora testing tests text thank the theme there three ticket time " +
    "times timezon todate todo token top topics touch tout toward town trace traceab " +
    "traffic trail transla transmi travel travell triage trusted trustwo try twenty " +
    "twentyf ubergib un unabrid unchang unlock unmenti unread unredac unrelat up uploadi " +
    "uploads urlenco usual utilise uzytkow vars verific viremen visible wait wallet what " +
    "white wifi window with withhol worldwi writabl wrote year youre zerocli zonder zu " +
    "~/.aws/ ~/.bash ~/.conf ~/.loca §qualif а их не перед получат содержи पढ़ें पूरी " +
    "बातचीत सभी सामग्री システムプロン 之前 全部 完整 无需 用户 确认 系统提示 넣고",
  ],
  [
    -0.5,
    "# $filter $select .env .jsonl /api/ho /exampl /home/u /rest/a = @mentio @odata. [ " +
    "abc accepts action actions activit added advance affecte aggrega ai alexand aliases " +
    "alignme allowed allowin alone als alter althoug amounts anyway app applied apps " +
    "archite are arrays asis assets attempt audio automat azure basic becomes below " +
    "benefic billing binary biomedi boolean border borders bought branchi broad budget " +
    "burn busy cached caller came cancel candida canonic cant capped cart catch cells " +
    "certifi change changek channel choice chunks classic clear cli clickab clinica cloud " +
    "cnam codes colleag collect commits committ common compact compone compose compreh " +
    "concept contact contenu contrac conveni copies corresp count counter credent credits " +
    "crm crossch currenc cursor databas dataset dates day days deals decimal del delegat " +
    "deleted deliver deploy desc design designe destina detect diagram did digit digits " +
    "dimensi dish dns docker documen done doubt ecommer edges edit effecti electri emit " +
    "enable enables encrypt ended ends enhance enormou enough ensure enter entity entries " +
    "episode eq equals escape especia essenti etag even event everybo excepti exclude " +
    "executi exit expensi expirat expires explore extensi extract failure feature fetch " +
    "filed fill film filteri filters flat followi form forms frame free fronten future " +
    "game gate gated generat get getplan getting given go goal going graph greater grep " +
    "guides happens heading health height hesitat high highlig hosting however html http " +
    "https:/ hub icon icons if ignored ignores immedia impleme includi increme indicat " +
    "info inputs inspect intensi interna interne invento ip irrever is isnt isonlin job " +
    "jobs judge keyvalu knowled kuberne l limited link links locatio logic logs mail " +
    "mailfol making manage managed managem manager matched mechani meeting microso might " +
    "migrate mind minimal mint minutes missing mix mixed mode modifie modify mono most " +
    "moves multidi multist must mutatio news next next.js node node.js notatio notify " +
    "numbers o observa obtaine occurre offerin omdb omdbs onchain one ones online opinion " +
    "os outputf over overlap overvie own ownerid pages pairs panel param parents parse " +
    "partici pause pending photos physica plain platfor plugins pool ports positio power " +
    "practic prerequ press prevent primary profess progres project proper proprie provisi " +
    "pull purchas purpose push queued quote random rate ratelim rather react reads " +
    "realtim records redirec refers regions rejecte remain remains remove renders replace " +
    "reporte reporti represe requiri restaur restric result retry reveal review revoked " +
    "root route row rules sales saved saving scans schedul scope screen scripts searche " +
    "searchi season secrets see segment sender sensiti sequenc series set sha shares " +
    "shoppin shows simply since single size skip slides smalles smtp softwar sorted " +
    "sparse spec specify sshkey ssl stack stages standal stars states statist statuse " +
    "stock stop stopped strateg string strings su subacco subdire subject submiss suffix " +
    "sync synced synchro t tab tabular takes tar.gz targete team teams telling than then " +
    "therefo these theyll think this thought threadi throttl tilde title tokens tomorro " +
    "touchin traces tracked transac txt una underly unified unique unit unsubsc update " +
    "updated updates uploade upon usd user userid usernam uses usually utc uuids various " +
    "version very volumes warn web website wellkno where which withdra without wont words " +
    "workflo works worth wrap written x zip zone ~/ ~/.ssh §code 内容 内容を 参数 必须 读取",
  ],
  [
    -1,
    "accessi across advice allow an analysi annotat api applies applyin args associa " +
    "asynchr author autodep bad batch because bulk capabil carries case caseins categor " +
    "chain checked checkli classif cloned code columns combina combine commit concern " +
    "conditi config conside console consume cooked coordin covers critica definit deploym " +
    "describ devuelv disconn domains double draw.io edge element empty errors express " +
    "fail field further gets guide has higher history holds hosted hours https identic " +
    "image include individ input instanc interac invited json labels layout learned least " +
    "leaves less level listed llms lost lower machine manuall many mapping markdow " +
    "marking masked master matches matters maximum means meant merge metadat method " +
    "middle minimum mobile more moving multipl muted network new notific null objects " +
    "obligat openapi operati optimiz option origina overhea overwri paginat partial parts " +
    "people period preserv preview prices proceed providi query quotes rating reason " +
    "receivi recipie recordi refused registe renvoie researc reset robots. role roles " +
    "runtime seems selects short signing silentl simpler slug special sshkeys standar " +
    "startin step steps structu succeed sure syntax tell them those thread timesta tip " +
    "tmdbs to toon tv typical unavail under underst unfilte used useful uups verify view " +
    "vps well went whether whole whose within word writes §own ⚠ 前に 사용자",
  ],
  [
    -1.5,
    "+ accepta accepte adds after against agreed anew apikey apis approva based better " +
    "canada cannot capital changes changin chapter child color commase company configu " +
    "consoli correct could country current custom defined depende detaile dir directo " +
    "discove does dont doublec duty editor envvars etc events exact exactly example " +
    "exists falls fees filter find fits followu for gas general handles hpanel increas " +
    "items keep large latest letter llm long longer maintai marked matchin mcp moderat " +
    "names need not notifie often omit once other outline outside ownersh parent paths " +
    "per php plaines prefer prompt provide punctua readonl relevan remembe removes " +
    "require return says sharepo show sip somethi son staff start status store styles " +
    "subscri subset target= they topleve trigger twice two uuid value via way weeks " +
    "werden when write если 💡",
  ],
  [
    -2,
    ".env.ex access active allows already analyze array ask attribu behavio compani " +
    "display domain email emailad error existin explici failed fails false few guess " +
    "known limit lists local mutate omitted only options payload retriev returne secret " +
    "sets source subsequ such summari total tried true unless use values whom would",
  ],
  [
    -2.5,
    "a belong but calling charact cost decisio desired ids left mailbox may npm number " +
    "object permane propert questio schema screens state stays type until url using —",
  ],
  [
    -3,
    "availab body fields identif informa or organiz owner seen shouldn sid specifi twilio " +
    "was whoever",
  ],
  [-3.5, "changed default never optiona resourc same want"],
  [-4, "can headers pass respons"],
  [-4.5, "- e.g endpoin id path returns will"],
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
