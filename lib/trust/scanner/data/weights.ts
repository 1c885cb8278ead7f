/**
 * Written by bench/scanner/train.ts, see docs/adr/0012. Points of signs, and how much a word speaks
 * for an order to a model (above zero) or for plain documentation (below); of words the beginnings,
 * seven letters at most. No word is telling by itself: a sentence is judged by all of them, and only
 * where it has signs as well.
 */
export const POINTS: ReadonlyMap<string, number> = new Map([
  ["address", 2],
  ["against", 5],
  ["asked-in-parameter", 0.5],
  ["calls", 2.5],
  ["cipher", 5],
  ["collects", 2.5],
  ["context", 4],
  ["danger", 3.5],
  ["displace", 1.5],
  ["divert", 3],
  ["elsewhere", 3.5],
  ["exclusive", 1.5],
  ["extra", 1],
  ["hand-over", 1],
  ["hide", 4.5],
  ["lasting", 1],
  ["lie", 3.5],
  ["lifted", 6.5],
  ["machine", 4],
  ["model", 0.5],
  ["money", 0.5],
  ["obey", 4],
  ["order", 0.5],
  ["people", 0.5],
  ["personal", 2],
  ["phish", 3],
  ["plant", 2.5],
  ["praise", 7.5],
  ["promote", 2],
  ["quiet", 3.5],
  ["reply", 1],
  ["reshape", 6],
  ["rewire", 0.5],
  ["role", 3.5],
  ["secret", 3],
  ["slot", 2.5],
  ["talk", 2.5],
  ["trigger", 0.5],
  ["unaltered", 0.5],
  ["unasked", 5],
  ["voice", 1],
  ["whole", 0.5],
]);

/** What a tool does is said first, orders come later; and some places are none for sentences. */
export const PLACES = { later: 3, odd: 2 };

const BY_WEIGHT: readonly (readonly [number, string])[] = [
  [4.5, "assista our servers session §email §foreig §hard"],
  [4, "approve export"],
  [3.5, "anythin asks chat de delete develop here homedir ours talk too §dotfil"],
  [
    3,
    "adminis bank command cookies everyth intent mbox person pick prior put readers " +
    "respond safety tool tracing vendor wheneve",
  ],
  [
    2.5,
    "add afterwa anonymi append audit bundle card differe everyti guideli host la last " +
    "makes me neednot operate persons policy pretend print prompts quality report script " +
    "securit send site ssh suggest ten treat ultimat и",
  ],
  [
    2,
    "& account address agents agree always argumen book booked convers copied decode des " +
    "diagnos die down dump each every expiry explain extra forward gathere grant hand " +
    "helpful http:// images insecur instruc interfe kestrel know later learns legitim " +
    "line mention minute needs off officia operato others output overrid part partner " +
    "passwor place please postins printen prove que reasoni relay repeat reply rights " +
    "root run say selecte share shell slows sources stay systemp take third transcr " +
    "twofact und users violate wants while workspa yes §envnam §host §number §tool в ツール " +
    "入れて 所有",
  ],
  [
    1.5,
    "% accepts act additio agreeme along answers anyone applica asked atlas autoapp " +
    "backups begin board builtin called carried chainof chooses closed cluster compare " +
    "complet confide connect contain convhis copia copy dan data decline deletio den " +
    "depreca derived descrip dialogu direct directi disable disk do dropped e employe en " +
    "entire environ et execute externa fall fare fastaut feed fills fromnow gh harmles " +
    "hide holding home ignore im informe invoice its le leave led legally log mails " +
    "matter models mood moved name ne neglige nicht notice obey obeys opens out page " +
    "palette party paste persona phone placed plan public queries quiet raw reading recap " +
    "recomme refuse rely remote removed reposit rest risky rule safe said server. service " +
    "several should showing shown silence slow small so speak spoken started steal " +
    "submitt supply talked that things though todos tools trades transfe trying turns " +
    "typed ve wait we whateve wording work ~/.ssh/ §server §url すべて 不要 会話 全文 对话 工具 必ず",
  ],
  [
    1,
    "-- ./.cach .ssh accept accurat achieve agent airline all among announc answer apples " +
    "apply as aside attach attachm auditor authors away back backup bash been behind " +
    "benefit bootstr broker brokera calcula calenda carry champ charge chat.to chats " +
    "checksu choice choosin city claude cleanup client clipboa closes closing comes " +
    "comment competi comply compres comprom compte compute consign consist content " +
    "context continu contrad created creditc csv d dans debuggi der di discrep discuss " +
    "disrega doing door drafts drive drop du earlier eht else emails env erase este exist " +
    "faster fee figures file fine five flexibl fold forget formali fresh front fully fund " +
    "garbles git give gur harmful hex hints hostnam hr i iban implied import@ improve " +
    "inform insert interfa into invest invisib it ke keeps kubecon label las leading " +
    "library list lock logged login lost mark messeng modific month na naq native necessa " +
    "newest newline nguoidu nobody nutzer obeyed of offset ohne old ones opened overall " +
    "page.ig passed payable payee pem permiss phrase praises price prints private problem " +
    "process prod product profile properl reasons receipt recorde recover ref refresh " +
    "refunds refusal render renderi resulti reviewi rows safer sans save scaffol scan se " +
    "search seed selecto semicol server sh si sie someone speaks standin steht still " +
    "style success sudo swap symbols table tasks tells tenant termina through today tone " +
    "trace trailer trainin trash travell unsafen upload us usage usuario va validat " +
    "verbati visibil visible vous wcarchi weather whichev who windows wonders yet you " +
    "your §cmd §danger на перед передай подтвер поле прочита с счёт у файл что الحقل كامل " +
    "مستخدم उपयोगकर न भेज システムプロン 其他 利用者 読み 계좌 도구 먼저 바꾸 항상",
  ],
  [
    0.5,
    "$ .cursor .key .npmrc .pem /bin/sh /etc/sh <!-- @ext-ma @palett actions advance " +
    "again alerts also altro amount analyti and anonymo answere anterio antes anthrop any " +
    "ao apikeys appear appel archive around arquivo asisten asking assume assuran assure " +
    "at attache aunque auth.us außerde avant avoided backend backgro basis be beforeh " +
    "beginni behalf belongs benutze between bill bind birthda bisheri blank block board-d " +
    "bodies booking borra bot@bad both box brand brief bring browser bug bukb by c cada " +
    "call campo cat chaque checks childre chmod ci citatio claude. collaps coming company " +
    "compari complia con concate config/ confirm consent copie correo cover cuenta cut " +
    "dangero daolpu darauf das date davon debug degrade departm desktop detail details " +
    "devmast dialog diff digest dna docs dot draft drafted drops earn echo ein eine " +
    "elsewhe enclose encode encoded ending engine enthusi eslint esta exclusi expect " +
    "experie expert experts facilit failing falsifi family far favor feld fetched fetchin " +
    "fifty figure files filesys filled final finds finish fixing folder force formed " +
    "found fragmen from ftp://a functio gb gebruik gesamte gesprac github gmail good got " +
    "granted guest guests guidanc had helper hereby herrami het hidden hint hinzuwe hold " +
    "hosts hour house human identit imgtagp importa in inactiv income indexed indexur " +
    "inhalt inquire inseris install integer integra interpr interru invalid invoke irce " +
    "ist itself joignez joined key keychai keys kindly konto kullani labs lamp leads les " +
    "letters license lies lifted like likes limitat limited lintegr lisez listing living " +
    "llet lo loaded loading loads locale locate locked logins look m made manual market " +
    "marketi materia mean member members memo memory merging message meta minifie mit " +
    "model moment money much mustnot nada named namespa nbaccel nc nel net nichts nie no " +
    "nolonge none none.</ nota note notes nothing novapdf numbero offer offers oldest " +
    "open order orders origin ort os.syst ot otra outlook outputs outrank package para " +
    "paragra pas passes passing passpor patient pay penggun picked picture pin pip pipes " +
    "plus point por portal postgre precede precedi prefix prepend pretext previou prima " +
    "probe produce proof publicl publish pw quantit queue qui quickly quietly raises rank " +
    "rated rates read recent recopie record region release reliabl remark reports reprodu " +
    "researc reserva reserve restart restore results reviewe round routes routine ruckfra " +
    "s salvate sample sandbox scanner second sees select self senza serve setup shall " +
    "shared shop shorten side sides sign signatu signed sizes slash sms snippet sold " +
    "somebod songs soon sorts sounds space spaces split src=htt ssn staging starts " +
    "startup stateme staypri stets stop stores straigh strumen submit substit sum superse " +
    "switch switche system tag task>cl te telemet tempora testing tests text texts thank " +
    "the theme themsel there three ticket time timezon todate todo togethe top topics " +
    "touch tout toward town traceab traffic transla transmi travel triage trusted trustwo " +
    "try turn twenty twentyf ubergib umgebun un unabrid unchang unedite unlock unmenti " +
    "unread unredac unrelat up uploadi uploads urlenco usual utilise uzytkow vars verific " +
    "verifyi views viremen wallet what white why wifi window with withhol words worldwi " +
    "writabl wrote zerocli zonder zu ~/.aws/ ~/.bash ~/.conf ~/.loca §bucket §leak " +
    "§qualif §soft а их не получат содержи спрашив المحادث पढ़ें पूरी बातचीत सभी सामग्री " +
    "之前 全部 完整 无需 用户 确认 系统提示 넣고",
  ],
  [
    -0.5,
    "# $expand $filter $select .env .jsonl /api/ho /exampl /home/u /rest/a @circle " +
    "@mentio @odata. abc above across action added addon admin affect affecte aggrega ai " +
    "alexand aliases alignme allowed allowin alone als alter althoug amounts another " +
    "anyway app applied apps archite are arrays asis assigne attempt audio author automat " +
    "azure basic before below benefic binary biomedi boolean border borders bounced " +
    "branchi broad budget bulk burn busy caller came cancel candida canonic cant capped " +
    "careful cart catch cells certifi change changek chunks classic clear cli clickab " +
    "clicked clinica cnam colleag commits committ common compact compose compreh concept " +
    "concern constra contact contenu contrac control conveni copies corresp count counter " +
    "credent crm crossch currenc current cursor dataset dates days deals decimal del " +
    "delegat deliver deploy desc design designe detect device diagram did digit digits " +
    "dimensi disease dns docker ecommer edits effecti electri emit empty enable enables " +
    "encodin encrypt end ended enough ensure enter entries episode eq escape especia " +
    "essenti even event events everybo excepti executi exit expensi expirat expires " +
    "explore expose extensi failure fetch filed fill film filteri finance first flat " +
    "followi form forms frame future gate gated gave generat getting given goal graph " +
    "greater grep guides header heading health height hesitat hierarc high highlig " +
    "history hosting however html http https:/ hub icon icons ignores image immedia " +
    "impleme includi incomin increme info inherit inputs instead intensi interna interne " +
    "invento is isnt isonlin issues job jobs join judge keyvalu knowled knows kuberne l " +
    "languag layout lets link links liquidi logic longrun machine mail mailfol making " +
    "malware manage managed managem manager matched mechani microso middle might migrate " +
    "mind minimal mint missing mix mixed modifie modify mono most mostly move moves " +
    "multidi multist must mutatio need news next.js node node.js notatio notify numbers " +
    "numeric o observa obtaine occurre offerin omdb onlinem openapi opinion outputf over " +
    "overlap overvie ownerid pages pair pairs panel param paramet parents parse partici " +
    "pause pending photos physica plain plans platfor plugins pool ports positio possibl " +
    "power practic prerequ press prevent primary printed profess progres project provisi " +
    "purchas purpose push query queued random rate ratelim reached react reads ready " +
    "realtim receivi redirec refers regions rejecte relatio relativ remain remains " +
    "reminde remove renders replace reporte reporti represe requiri restaur restric " +
    "result reveal review revoked row rules sales saved saving scans schedul scripts " +
    "searche searchi season secrets segment selecti sender sensiti sequenc series served " +
    "set sha shares shoppin shows similar simple simply since single size skip slides " +
    "slugs smalles softwar solutio some sorted spans sparse spec specify sql sshkey ssl " +
    "stack stages standal stars states statist statuse stock stopped str string strings " +
    "su subacco subdire submiss suffix sync synced synchro t tab tabular taken tar tar.gz " +
    "targete task teams telling terms than then therefo these theyll think thought " +
    "threadi throttl tilde title tokens tomorro touchin traces tracked transac treated " +
    "txt types una underly unified unique unix unsubsc update updated updates uploade " +
    "upon usable usd userid uses usually utc uuids various version very visuali volumes " +
    "warn web website wellkno which whole withdra wont workflo working works worth wrap " +
    "wrong x zip zone ~/ ~/.ssh §code §handle §own пользов 内容 内容を 参数 必须 读取",
  ],
  [
    -1,
    "= [ accessi active activit advice allow analysi annotat api approva args associa " +
    "asynchr autodep bad batch because becomes billing carries case caseins categor chain " +
    "changes channel checked checkli classif cloned code columns combina combine commase " +
    "commit compone conditi config conside console consume cooked coordin covers critica " +
    "databas definit deleted describ destina devuelv disconn documen domains done double " +
    "doubt draw.io edge edges edit element email entity errors exclude express extract " +
    "fail feature fees field filter filters followu for further get gets going guide has " +
    "higher holds hosted hours https identic include indicat individ instanc interac " +
    "invited irrever json labels learned least leaves less level listed llm llms locatio " +
    "lower manuall many mapping markdow masked master matches matters maximum means " +
    "metadat method minimum mobile mode moderat more moving muted network notific null " +
    "objects obligat once onchain online operati optimiz option os other outside overhea " +
    "overwri own partial parts people period preserv preview prices proceed proper " +
    "providi pull quotes rating reason recipie recordi records refused registe renvoie " +
    "reset retry robots. role roles runtime screen see seems selects short signing " +
    "silentl simpler slug special sshkeys standar step steps store strateg structu " +
    "subject subset succeed sure syntax takes them they this those thread timesta tip " +
    "tmdbs to toon trigger tv typical unavail under underst unfilte unit unless used " +
    "useful usernam uups verify view vps well where whether whose within word writes " +
    "written ⚠ 前に 사용자",
  ],
  [
    -1.5,
    "+ accepte adds after against an anew apis applies applyin based behavio better " +
    "canada capabil capital changin charact child color configu correct could country " +
    "custom defined depende deploym detaile dir directo dont duty editor emailad envvars " +
    "etc exact example exists fields find general handles hpanel input items keep large " +
    "latest letter long longer maintai marked marking matchin mcp meant merge multipl " +
    "names not notifie often omit origina outline ownersh paginat parent paths payload " +
    "per permane php plaines prefer prompt provide punctua relevan remembe removes " +
    "require return says sharepo show sip somethi son staff styles target= topleve total " +
    "twice until uuid value way weeks went werden when write если 💡",
  ],
  [
    -2,
    ".env.ex accepta access agreed allows analyze apikey ask attribu but cannot chapter " +
    "compani consoli desired discove display does domain doublec exactly existin explici " +
    "failed fails falls false few fits gas guess increas known limit lists mutate number " +
    "omitted only options readonl retriev sets source start status subscri subsequ such " +
    "tried true two use via",
  ],
  [
    -2.5,
    "a already array availab belong calling cost decisio error ids left local mailbox " +
    "never npm object propert questio returne schema secret seen state stays summari " +
    "twilio values want whom would —",
  ],
  [
    -3,
    "body identif informa may organiz owner same screens shouldn sid specifi type url " +
    "using was whoever",
  ],
  [-3.5, "changed default optiona or pass resourc"],
  [-4, "can headers respons will"],
  [-4.5, "- e.g endpoin id path returns"],
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
