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
  ["calls", 1.5],
  ["cipher", 5],
  ["collects", 3],
  ["context", 4],
  ["danger", 3.5],
  ["displace", 2],
  ["divert", 3],
  ["elsewhere", 3.5],
  ["exclusive", 0.5],
  ["extra", 1.5],
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
  ["phish", 3],
  ["plant", 3],
  ["praise", 7.5],
  ["promote", 2],
  ["quiet", 3.5],
  ["reply", 1],
  ["reshape", 6],
  ["rewire", 0.5],
  ["role", 2],
  ["secret", 3],
  ["slot", 3],
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
  [4.5, "assista our servers §email §foreig §hard"],
  [4, "chat ours"],
  [3.5, "anythin command de develop everyth export here prior put session §dotfil"],
  [
    3,
    "adminis bank card cookies delete guideli homedir intent last mbox person persons " +
    "pick respond talk too tool tracing wheneve",
  ],
  [
    2.5,
    "add address agents append approve asks copied each every everyti gathere host " +
    "interfe know la leave makes me off operate passwor pretend print rights say securit " +
    "site ssh suggest take vendor §envnam и",
  ],
  [
    2,
    "& account act additio afterwa always answers anyone argumen asked book booked " +
    "builtin compare convers decode des die do down dump expiry explain extra feed " +
    "forward grant hand insecur instruc kestrel le learns legitim line matter mention " +
    "neednot needs officia operato others overrid part partner place please printen prove " +
    "que reasoni relay reply report reposit run safe safety selecte send shell slow " +
    "sources systemp ten todos transcr twofact ultimat und users wants whateve work " +
    "workspa §host §number в ツール 入れて 所有",
  ],
  [
    1.5,
    "along answer applica asking attachm audit board chainof chooses closed cluster " +
    "confide connect contain content continu convhis copia copy deletio den descrip " +
    "diagnos dialogu differe direct directi disable disk disrega dropped e employe en et " +
    "externa fare faster fills fromnow gh git give hide holding home http:// ignore im " +
    "images import@ informe invoice it kubecon later led logged mails mood moved name ne " +
    "necessa neglige nicht notice obey obeyed opens out page palette party paste pem " +
    "persona phone plan postins public queries quiet readers reading recap refuse remote " +
    "removed rest rule script server server. service several should showing shown slows " +
    "small spoken started steal submitt sudo supply table talked tells that things third " +
    "though tools treat trying turns typed ve we weather while yes ~/.ssh/ §server §tool " +
    "§url すべて 不要 会話 全文 对话 工具 必ず",
  ],
  [
    1,
    "% -- .ssh <!-- accurat achieve again agent agree airline all among announc anonymi " +
    "answere apples apply as aside attach attache auditor authors autoapp away backup " +
    "bash been begin behind benefit bisheri bootstr both brokera bundle calcula called " +
    "carry champ charge chat.to chats choosin city client closes closing comes competi " +
    "complet comply compres comprom compte consist contrad creditc csv d dan dans debug " +
    "debuggi depreca der derived di dialog discrep discuss door drafts drive drop du " +
    "earlier eht elsewhe entire env environ erase este exclusi experie fastaut fee " +
    "fetched figures filled fine five flexibl fold formali formed fresh front fully fund " +
    "garbles gur had harmful hereby hex hints hostnam hr i iban inform insert into " +
    "invalid invest invisib its ke kullani label las leading legally library like likes " +
    "list lock log login manual mark messeng models mustnot na namespa naq native newest " +
    "newline nguoidu no none nota notes nutzer of offset ohne old opened origin output " +
    "overall page.ig pas passed phrase point policy praises pretext price prints private " +
    "probe problem process prod profile prompts properl reasons receipt recomme recorde " +
    "recover ref refunds refusal rely render repeat resulti reviewe rows ruckfra safer " +
    "said sans scan se search seed semicol sh si sie so somebod someone soon speak " +
    "standin steht still style substit success swap switch system tenant termina testing " +
    "text texts through today togethe tone trailer transfe transmi trash turn umgebun " +
    "unedite unsafen upload us usage usuario va validat verbati visibil vous wcarchi what " +
    "whichev who why wonders wording yet you your §bucket §cmd §danger на передай подтвер " +
    "поле прочита с счёт у файл что الحقل كامل مستخدم उपयोगकर न भेज 其他 利用者 読み 계좌 도구 먼저 바꾸 " +
    "항상",
  ],
  [
    0.5,
    "$ ./.cach .cursor .key .npmrc .pem // /bin/sh /etc/sh @ext-ma @palett accordi alerts " +
    "alterna altro amount analyti anonymo another anterio antes anthrop any ao apikeys " +
    "appear appel archive around arquivo asisten assure at aunque auth.us authori außerde " +
    "avant back backend basis beforeh beginni begins belongs benutze between bill bind " +
    "birthda blank block board-d bodies booking borra bother brand brief bring browser " +
    "bucket bug bukb by c cada calenda call campo cards carried cat chaque checks checksu " +
    "childre chmod choose ci citatio claude. clean cleanup collaps coming comment compari " +
    "complia compute con concate config/ confirm consign context copie correo cover " +
    "created cuenta cut daolpu darauf das data date degrade demande departm desktop " +
    "destruc details diff digest disappo dna docs doing done dot draft drafted drops earn " +
    "echo ein eine else emails emergen enclose encode encoded ending engine enthusi " +
    "eslint esta exa execute expect expects experts facilit failing falsifi family far " +
    "favor feld fetchin figure file files filesys final finance finds finish fixing flag " +
    "folder force forget found fragmen from ftp://a functio gateway gb gebruik gesamte " +
    "gesprac github glossar gmail goes good got group guest guests guidanc have hello " +
    "helper hence herrami het hidden hint hinzuwe hold hosts house human import improve " +
    "in income indexur inhalt inquire inseris install integer integra interfa interpr " +
    "interru invite invoke irce ist item itself joignez joined joins just keychai keys " +
    "kindly konto labs lamp lassist leads les letters licence license lies lifted lines " +
    "lintegr lisez listing living llet lo load loaded loading loads locale locate locked " +
    "logins look looking m main mandato market marketi materia mean member members memo " +
    "memory merging meta minifie mit model modific moment money month much nada named " +
    "nbaccel nc nel nobody nolonge none.</ normall note novapdf numbero offer offered " +
    "oldest optimal order orders ort os.syst ot otherwi otra outputs outrank package para " +
    "paragra passes passing passpor patient pay payable payee penggun perform picked pin " +
    "pip pipes placed plus portal postgre precede precedi prefix present previou prima " +
    "produce product proof protect protoco publicl publish pw quality quantit queue qui " +
    "quietly raises rank rated rates read reader recent recopie record referen regardl " +
    "region release reliabl remark renderi reports reprodu reserva reserve resolve " +
    "restart restore results round routes routine routing s salarie salvate sample " +
    "sandbox save scaffol scanner seconds sees select selecto sends senza serve setup " +
    "shall share shared shop shorten side sidenot sides sign signatu signed silence sizes " +
    "skipped slash sms snippet sold songs sounds space spaces src=htt ssn staging starts " +
    "startup stateme stay staypri stets stores straigh strumen submit sum superse supplie " +
    "switche tag task>cl tavily te telemet tests thank the theme there three ticket time " +
    "times timezon todate todo top topics touch tout toward town trace traceab traffic " +
    "trail transla travel travell triage trusted trustwo try twenty twentyf ubergib un " +
    "unabrid unchang unlock unmenti unread unredac unrelat up uploadi uploads urlenco " +
    "usual utilise uzytkow vars verific verifie verifyi viremen visible wait wallet white " +
    "wifi window with withhol worldwi writabl wrote year youre yoursel zerocli zonder zu " +
    "~/.aws/ ~/.bash ~/.conf ~/.loca §qualif §soft а их не перед получат содержи спрашив " +
    "المحادث पढ़ें पूरी बातचीत सभी सामग्री システムプロン 之前 全部 完整 无需 用户 确认 系统提示 넣고",
  ],
  [
    -0.5,
    "# $filter $select .env .jsonl /api/ho /exampl /home/u /rest/a = @circle @mentio " +
    "@odata. abc accepts action actions activit actuall added advance affecte ai aliases " +
    "alignme allowed allowin alone als alter amounts anyway app applied apps archite are " +
    "arrays asis attempt audio author autodep automat azure basic becomes below benefic " +
    "billing binary biomedi boolean borders bought broad bulk burn busy caller came " +
    "cancel candida canonic cant capped careful cart catch categor cells certifi change " +
    "changek channel check choice chunks classic clear cli clickab clinica cloud cnam " +
    "codes colleag collect commits committ common compact compose compreh concept conflic " +
    "conside constra contact contenu contrac conveni copies corresp count counter create " +
    "credent credits crm crossch currenc cursor databas dataset dates day days deals " +
    "decimal del delegat deleted deliver deploy desc design designe detect diagram did " +
    "digit digits dimensi dish dns docker ecommer edges edit effecti electri embed emit " +
    "enable enables encrypt ended ends enormou enough ensure entity entries episode eq " +
    "equals errors escape especia essenti etag even event everybo excepti exclude executi " +
    "expensi expirat expires explore express extensi extract failure feature filed fill " +
    "film filteri first flat flow followi form formats forms frame free future gate gated " +
    "gave generat get getplan getting given go goal graph greater grep guides happens " +
    "heading health height hesitat highlig hosting however html http https:/ hub icon " +
    "icons if ignores image immedia impleme importa includi increme indicat info inputs " +
    "instead intensi interna invento invitat ip irrever is isnt isonlin job jobs judge " +
    "keyvalu kuberne l languag level limited link links listed locatio logic logs machine " +
    "mail mailfol making manage managed managem manager many matched mechani meeting " +
    "microso middle might migrate minimal mint minutes missing mix mixed mode modifie " +
    "modify mono most moves multist must news next next.js node.js notatio notify numeric " +
    "o obtaine occurre offerin omdb omdbs onchain one ones online operati os outputf " +
    "overvie own ownerid pairs panel param parents parse partici pause pending photos " +
    "physica plain plans platfor plugins pool ports power practic prerequ press prevent " +
    "primary profess progres project proper proprie provisi pull purchas purpose push " +
    "query queued quote random rate ratelim react reads realtim records recreat redirec " +
    "refers regions regionu rejecte remain remains removal remove renders replace reporte " +
    "reporti represe requiri restaur restric result retry reveal review revoked root row " +
    "rules sales saved saving scans schedul scope screen scripts searchi season secrets " +
    "see segment sender sensiti sequenc series set sha shares shoppin shows since single " +
    "size slides smalles smtp softwar sorted sparse spec specify sshkey ssl stack standal " +
    "stars states statist statuse stock stop stopped string strings su subacco subdire " +
    "subject submiss suffix sync synced synchro t tab tabular takes tar.gz targete teams " +
    "telling than these theyll think this threadi throttl tickets tilde tokens tomorro " +
    "touchin traces tracked transac twiml txt una under underly unified unique unit " +
    "unsubsc update updated updates uploade upon usd user userid usernam uses usually utc " +
    "various vault verify very volumes warn web website wellkno where which whose without " +
    "wont words workflo worth wrap written x zip zone ~/ ~/.ssh §code 内容 内容を 参数 必须 读取",
  ],
  [
    -1,
    "+ [ accessi across advice allow an analysi annotat api apikey applies applyin " +
    "approva args associa asynchr bad batch because branchi capabil carries case caseins " +
    "chain checked checkli child classif cloned code columns combina combine commit " +
    "compone concern conditi config configu console cooked coordin covers critica definit " +
    "deploym destina devuelv disconn documen domains double doubt draw.io edge element " +
    "empty exact fail field filters for further general going guide has higher history " +
    "holds hosted hours https identic include individ input instanc interac invited json " +
    "knowled labels layout learned least leaves less llms lost lower manuall mapping " +
    "markdow masked master matches matters maximum means meant merge metadat mind minimum " +
    "mobile more moving mutatio muted names network new notific null obligat openapi " +
    "optimiz option origina other overhea overwri paginat partial parts people period " +
    "prefer preserv preview prices proceed providi quotes rating reason receivi recipie " +
    "recordi refused registe renvoie researc reset role runtime seems selects short " +
    "signing silentl simpler simply skip slug special sshkeys standar startin step steps " +
    "strateg structu succeed syntax tell them those thread timesta tip tmdbs to toon " +
    "trigger tv typical unavail unfilte used useful uups value view vps way well whether " +
    "within word works ⚠ 前に 사용자",
  ],
  [
    -1.5,
    "accepta accepte adds after against agreed analyze anew apis based better canada " +
    "cannot capital changes changin chapter color commase company consoli consume correct " +
    "could country current custom defined depende detaile dir directo dont doublec duty " +
    "editor envvars etc events exactly exists explici falls fees filter find fits followu " +
    "gas gets handles hpanel increas items keep latest letter llm long longer maintai " +
    "marked marking matchin mcp method moderat multipl mutate need node not notifie " +
    "objects often omit options outline outside ownersh parent paths per php plaines " +
    "prompt provide punctua readonl relevan remembe removes require return robots. roles " +
    "says sharepo sip somethi son staff start status store styles subscri subset sure " +
    "target= they topleve two underst uuid via weeks werden when whole write writes если " +
    "💡",
  ],
  [
    -2,
    ".env.ex access active allows already array ask attribu behavio belong compani " +
    "discove display domain email emailad error example existin failed fails false few " +
    "known large limit lists local omitted once only payload retriev returne secret sets " +
    "show source subsequ such summari total tried true twice unless use values went whom " +
    "would",
  ],
  [
    -2.5,
    "a but calling charact cost decisio desired does guess ids left mailbox may npm " +
    "number object owner permane propert questio schema state stays type until url using " +
    "was —",
  ],
  [
    -3,
    "availab body fields identif informa or screens shouldn sid specifi twilio want " +
    "whoever",
  ],
  [-3.5, "can changed default never optiona organiz resourc same seen"],
  [-4, "headers pass path respons"],
  [-4.5, "- e.g endpoin id returns will"],
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
