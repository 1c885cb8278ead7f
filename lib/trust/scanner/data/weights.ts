/**
 * Written by bench/scanner/train.ts, see docs/adr/0012. Points of the phrases of
 * each sign, in their order, and how much a word speaks
 * for an order to a model (above zero) or for plain documentation (below); of words the beginnings,
 * seven letters at most. No word is telling by itself: a sentence is judged by all of them, and only
 * where it has signs as well.
 */
export const POINTS: ReadonlyMap<string, string> = new Map([
  ["act", "1 1 0.5 4.5"],
  ["address", "1.5 2.5"],
  ["against", "2 1 1.5 2 2.5 2 1.5 1.5 3 2 2 1 2.5 1.5"],
  ["agent-does", "2.5 1.5 1 3"],
  ["asked", "3 1.5 0.5 1.5"],
  ["asked-in-parameter", "1.5"],
  ["calls", "0.5 2.5"],
  ["cipher", "0.5 3 3"],
  ["collects", "3 1 3.5 1.5 1.5 2 2"],
  ["confided", "1 1 1.5 1 1 3 2 3 2.5 1 1 0.5"],
  [
    "context",
    "1 2 1 1 1.5 1.5 1.5 3.5 3 1 1.5 0.5 2 2.5 1.5 1 3 3 2.5 1.5 2 4 4.5 3.5 4 1 2 1.5 1.5 0.5 1.5 1.5",
  ],
  ["danger", "1.5 1.5 1.5 1.5 1.5 1.5 1.5 2.5 1 1.5 1 3 3 1.5"],
  ["deed", "1 1 1 1 1 0.5 2 1.5 1.5 1 1.5 2 0.5 0.5"],
  ["displace", "1.5 4.5 1"],
  ["divert", "0.5 2 1 2 3 1 3 0.5 4 1 1 1.5 1.5 1 1.5 1.5 1.5 2"],
  ["elsewhere", "1.5 3.5 4.5 4 1 2.5 2 1.5 2 1.5 1.5 4 2 1.5 3.5 0.5 2.5 1.5"],
  ["exclusive", "1.5 1 0 0.5 3.5"],
  ["excuse", "1 1.5 2 0 0.5 1.5 0.5 1 2 3.5 1 2.5"],
  ["exposure", "1 1.5 1 2.5 2.5 0.5 0.5 1.5 1.5 2 3 1 2"],
  ["extra", "1 1.5"],
  ["grab", "0.5 1 0.5 1 1.5 1 0.5 2.5 4 1 2 3 1.5 1.5 1 2"],
  ["hand-over", "1 3 1 1 1.5"],
  ["hide", "2.5 1 0.5 1.5 1.5 1 2.5 1 1.5 2 1.5 2 1.5 1.5 1 1 1 3.5 1 0.5 1.5 1.5 1.5 1 2.5"],
  ["in-the-name", "1 1.5 1.5 0 1 0.5 1.5 1.5 1"],
  ["kept-off", "1 1.5 0.5 1 2 1 0.5 0.5 1 0.5 0.5 1.5 0.5 2.5 0.5"],
  ["lasting", "1 0.5 0.5 1.5"],
  ["lie", "0 1 2.5 2.5 3.5 1 2.5 1.5 2.5 1 2.5 1.5 0.5 1.5 1.5 2"],
  ["lifted", "4.5 2.5 2 1.5 6.5 4 2 3 2.5 0.5 2 1"],
  ["machine", "1.5 2 2.5 3 1 1 1.5 2 3 0.5 1.5 3 3.5 2 2 1.5 1.5 2.5 1 1"],
  ["money", "0.5"],
  ["obey", "2 1 1 1 1 2.5 1 2"],
  ["order", "1.5 2.5 1 1"],
  ["others-calls", "2.5 6 0 1 2"],
  ["p-agent", "4 2.5 3 4"],
  ["p-context", "4.5 4.5 4 4.5 3.5 2 4.5 2"],
  ["p-machine", "4 1.5 1 4 0.5 1.5 2.5 1 1 1"],
  ["p-person", "2.5 3.5 1.5 4 6 2.5 1.5 4.5 1.5 2.5 3 1.5 0.5"],
  ["p-secret", "2.5 1 1 2 2 1 0.5"],
  ["p-source", "1 1 2 2 2.5"],
  ["personal", "2 1 2 2 1.5 2 1"],
  ["phish", "0.5 1.5"],
  ["plant", "0.5 2.5 2 3"],
  ["posed", "2.5 1 2.5 1 1.5 0.5 0 1 1.5 1 1 0 1 2 2.5"],
  ["praise", "4 1 3 4.5 1"],
  ["promote", "1.5 1.5 1.5 1 2 3.5 1"],
  ["quiet", "2 1.5 0.5 1.5 1 1.5 5 2.5"],
  ["rarely", "2 1.5 1.5 1.5 0.5 1 1 1.5"],
  ["reply", "4"],
  ["report-as", "0.5 1 2 1 0 1.5 0.5 1"],
  ["reshape", "1.5 1 0.5 2.5"],
  ["rewire", "0.5"],
  ["role", "1 1.5 3 0.5 1.5"],
  ["secret", "1.5 2.5 0.5 1 0.5 2 6 1 2 0.5"],
  ["shun", "1.5 2 1 1.5 1 2 3 0.5 2.5 2 1.5 2 0.5 0.5 1.5 0.5"],
  ["slot", "0 2.5"],
  ["taken-as", "1 2 0 1.5 0.5"],
  ["talk", "1 2.5 2 2.5 1 1 1.5 1.5"],
  ["trigger", "2.5 1 1 0 2 0.5 2.5"],
  ["unaltered", "2 0.5 2 1"],
  ["unasked", "2 1 0.5 1 3 2.5 1 1.5 2.5 1 1 1 1 1 3 3 4.5 1 0.5 1.5 2.5 2.5 1.5 1.5 1"],
  ["voice", "2 1.5"],
  ["whole", "2"],
]);

/** What a tool does is said first, orders come later; and some places are none for sentences. */
export const PLACES = { later: 1.5, aside: 3, odd: 3, parameter: -2 };

const BY_WEIGHT: readonly (readonly [number, string])[] = [
  [4.5, "assista chat develop extra makes our thought trace vendor §email"],
  [4, "here home servers session §hard §server"],
  [3.5, "asked de hex nationa officia operato pem person ssh §dotfil §tool"],
  [
    3,
    "& account been bg booked card convers each entire everyti export hand hints host " +
    "into memo models nobody ours out passwor policy put reasoni report shell shown " +
    "whateve §foreig рaypal",
  ],
  [
    2.5,
    "above agents along always append ascii at back comes custome d dialog down dump " +
    "every gets guideli instruc la last le line mails names neednot off others persons " +
    "phone region reposit safety say ten termina told too tool transcr treat webhook " +
    "while yes §act §cmd §host",
  ],
  [
    2,
    "act adminis afterwa agent all any apply approve as auth autoapp aws backups bank bar " +
    "book chainof charge choosin command confirm context dialogu direct discuss docs " +
    "elsewhe employe even everyth expiry feed five form forward gap hexadec http:// i " +
    "leading lost made mail mailbox no obeys old opened origina otherwi please printen " +
    "prior profile quiet result row run script service shall signatu sources stripe " +
    "submit talk test us waterma wheneve workspa you и ツール 利用者 工具 所有 계좌 도구 바꾸",
  ],
  [
    1.5,
    "$home % + add address anythin apikeys asc asking attach attachm backgro backup begin " +
    "best bootstr breaks caller cancell carried checksu choose chooses cluster cmd column " +
    "come compare concate conflic connect copia crashed databas decode definit deletio " +
    "des di die differe disk do door dropped e en encode et far fare fee flexibl fuss gh " +
    "git gmail grant hartley homedir househo ignore includi it just keeps key las learns " +
    "leaves legal library list locale log logged me memory mirrore module moved needs " +
    "nicht noticed obey package page part partner patient percent photo phrase place plan " +
    "plumber plus prefera present print printed privile prompts public pw raises recap " +
    "recomme recover refusal refuse remote reply rest rights se securit seem select " +
    "selecte sh share sides signed site skip slows so sons spoken sudo superse supply " +
    "switche table take there therefo though togethe travel trying turn twenty typed " +
    "unpacks up uploadi users vale ve verbati verific verifie we were whichev window " +
    "wonders written ~/.ssh/ §number §qualif §url в счёт 不要 他の 代わって 承認 收款 账户 转账 받는",
  ],
  [
    1,
    "-- .ssh able acilirs agree among answere answeri anthrop app appear aside asks " +
    "attache audit auditor avoid away b badly bash bearer behind between binding bisheri " +
    "block bodies bucket builtin by c callers came carry champ channel chart chats child " +
    "ci closed closing comment communi compari competi concern conferm confide config/ " +
    "consign continu convhis copies core.ho country dans dbg debug decline dellute den " +
    "der derived descrip desktop directi discard discrep disrega drive duplica earlier " +
    "echo echoed edit editor eht emergen encoded engine este event everyon evet exclusi " +
    "exec ext figure figures filled finding fixed fold folder formali former found from " +
    "fromnow full fully gateway gathere getsess github goal good greetin growth- guest " +
    "half have having headsup hence hexcode hint hold holding hostnam hour human identit " +
    "illness in inbox inciden informe inquire insecur invoice irrespe istruzi its jar " +
    "jira job joined jokefee json k know konto lacks legitim liable lifted lines listing " +
    "lives loads login ltd mark matter matters medicin meet mention mirror mobile mood nc " +
    "ne network newest next nor notice notion now nutzer of offer offers on onayla ones " +
    "onetime open opens operate order output outputs outrank overall palette paragra " +
    "passpor paste payee peer pencere pipelin pipes pixelki plausib postins posto posts " +
    "premium price private probe prod proof protoco publicl publish quantit que qui ranks " +
    "rarely rated rates rateslo raw reading real refresh refunds relay remark render " +
    "reserva respond restart restic restore reviewe richies right rows ruckfra rule safe " +
    "safer samples sandbox sans screen secrets semicol send setup shop side slack slip " +
    "small smooth smuggle someone span speak spot straigh strings strippe sts success " +
    "swap switch synchro telemet tend tests texts that their them theme themsel those " +
    "three through titled today tone trainin truoc tue turns tutta twofact unchang und " +
    "unmenti unread upload uploads urlenco usual va verwend visibil vote waived wallet " +
    "warm what where who whole wins wish with without wording works worry would yearly " +
    "yerine ymfzaca your youre yoursel §envnam на подтвер что الأداة الحقل القواعد تأكيد " +
    "تجاهل كامل مستخدم すべて 一字不差 入れて 原文 对话 替用户 点同意 用户 무시 지침",
  ],
  [
    0.5,
    "$ .$ .cursor .dessap .git/co .github .key .npmrc .pem .x.dnsp /bin/sh /etc/pa " +
    "/etc/sh /home /tmp/.h <!-- <- @conver [[ abaikan abaixo abobql absence absolut " +
    "accent accept accordi acct accurac accurat acme action acts adding ads adverti " +
    "airline alanina alarm alerts alike altro analyst analyti and andere anderer anderes " +
    "annex anotara anstell anterio antes antwort anwende ao apparen appel appels applica " +
    "araci aracin archiva archive arent argumen arithme arjrfg arquivo arrange arrive " +
    "asagida asisten assembl assiste assure atas atlas att auch aunque auto autofil " +
    "autres avant backdro backend backwar base basis bcc beantwo beforeh begins behalf " +
    "beim being belong belonge belongs benefit benutze besides bestati better bien biet " +
    "bind birthda blame board booking boqua borra both bother botheri box break brief " +
    "bring bringin broker brokers bs bu bug build buscara bypass cac cache cada calcul " +
    "calcula calenda calibra calisti called camera campaig campo canary- cant capture " +
    "carries cast cc cell center centre cet chaque chat.to chave che check checkin cho " +
    "cikarsa cio claude. cle cleanin cleanup cliente clientk coach codes codigos colon " +
    "coming comply compte compute con concier conecta consumi copie copied copy corpora " +
    "correo corresp costs counts create crypto csv cuenta curl customa dan dangero daolpu " +
    "dapi das davon deal dear debuggi decoded degrade delete dem demande demas denies " +
    "deny deploy deployb desc despite destruc detail diagnos diary dies dieses differ " +
    "digest digits disappe disappo discree discret dispatc dna doctors documen dondurd " +
    "doses dotenv doubled draft drafts drawn driver drop dumpkey dung during dvkestr ed " +
    "eerdere ein eine eingehe elevate elif elpmaxe emails embarra empfang emptied encamin " +
    "enclose enderec ends enginee english entry env enviea erase erforde escalat escapes " +
    "esegui esta eteled etonne eur euros evaluat events[ ever evidenc exceeds exchang " +
    "existed expect expecte experie explana externa exthoes extract faces facilit fait " +
    "faltet faster fasting fastlib favor fbyirq feld ferrame fichier file finder fine " +
    "firm fivesta flag flags foi folded followe for=mod force forget fork forma forty " +
    "four fraga fragmen freely fresh front fssl gather gb gel gelten gesprac ginkgo " +
    "git.for glue gonder google gormezd grab great green group gryy guardra guess guests " +
    "guidanc gur habia had handed handlin harbour harvest he head hear heartbe hela hello " +
    "helper helpful hencefo hereby herrami hesaba hesitat het hide him hit holds hook " +
    "hotels house hubspot humans huongda iban ignora ignorie im immer import impress " +
    "improve inclusi indexed indexur indispe inferre inform inne insert insight instruk " +
    "insurer integra interfe interne interpr interru inutile invent invite invoke is isnt " +
    "iso issue ja jamais jeder jesli johns joignez joindre joining jurarir kava kayitli " +
    "ke keepass kernel keychai keys khoa khong kieruj kindly komutla konvers kopie@p " +
    "kubectl kunde kuralla label lane lang languag largest lassist later launche leads " +
    "leak leaks learn learned lechang led leitet letters lies life like likes limits " +
    "linear. links lintegr lisez llet lo load loaded loading locales locate lock locked " +
    "login.k logins looked looking lookup lose loses loss love loyal lugar luon lutente " +
    "lying m machine maiden mailed mainten make manager mandato manual market master " +
    "matched materia mb medchec mehr memorie mensage merged messeng meta meter metrics " +
    "mialc mientra mild miss missing mit mixed modele modell moment money month months " +
    "mothers much muss mustnot n na nada nama naq narzedz native navigat nawet nb near " +
    "necessa negativ negeer neht neither nel neste newslet nguoidu nichts niez noi " +
    "nordvau normall normas nota notes notices notion. notre oauth obsolet obtenha " +
    "odemeyi office offset ok oku oldest olvide onceki op opening opinion opsbot ordered " +
    "orderin orders origin os ot otra outil outils own owners pad pagos panic para parayi " +
    "parler passage passed passez passing passphr passwd pasted pastes pattern pay " +
    "payable pembaya penggun periodi permiso permiss persona phrased pick picked picture " +
    "pida pidas pin pinned pip placed places plain plannin podane point polecen ponizej " +
    "poprzed postcon postgre pour practic praised pre preambl preappr precede precedi " +
    "preferr prefixe pretend prima printf prints priorit privacy probabl problem process " +
    "produce product program propose przelew przez purpose pushed pyho@pe pyhr quality " +
    "quarter quick quickly quietly quoted rank rate reach reachab reachin readabl readers " +
    "realist recall receipt recentl recipeh recogni recopie record recursi ref refrain " +
    "refund regardi regeln registr regole release relieve rely remarks remitto renderi " +
    "renewed replay replies reprodu researc resolve restitu result. results review " +
    "reviewi reviews role roll rotatio round rounded roundin route routed routes routine " +
    "routing s sake salarie salesfo salt salvate sammanh sample save score search seat " +
    "sebelum section seek selbst selftes sell semua sen sender senders sending sequenc " +
    "serve server servici setting setujui several severit shadow sheet ship shopper shops " +
    "shut sidenot siempre sifrele sign sil silence since sind sites six sizes skicka sku " +
    "slaitne slots slow slower snippet song soon sormada sort sostitu sound sounded sous " +
    "space spare speaks sponsor spukcab src=htt st stack staging star starts stateme stay " +
    "steer stem stets stored stores story strumen studio style submitt substit suite " +
    "summari superfl supervi suppres surname svcsync svir symptom syncsta synthes system " +
    "tab tag tagged tailor taken talked te technic tekcub tenant tenez tep text thanh " +
    "thats the these thing things third thirtee thus ticket tier times timetab toan toda " +
    "todate token tools topics touches toujour tous tout traceab traffic trail transfe " +
    "transme trash travell treatme trial trouble trouvee trusted truth try tset turned " +
    "twentyf u uma umvhzcb un unabrid unalter unasked under unhex union unlock unpacke " +
    "unredac unrelat unrestr unseen unser update uploade urgent urldeco usage usuario " +
    "utan utilice utilise uygula uzytkow vantage vao vaobk vault verifyi verlang verschw " +
    "vf vip viremen vorgese voudra vulnera warrant waste weather weave weiter wenn " +
    "werkzeu whatsap whereve whoami why wiped wishes wissen withhel withhol work worried " +
    "wort wrap writing wskazał wunsche wykonuj xacnhan xkey yaz ydobon yet yields zasady " +
    "zawsze zignoru znvy zonder zrffntr zu zwracan ~/.aws ~/.aws/ ~/.bash ~/.conf §bucket " +
    "§danger §harves §leak đat đo đoc αποθηκε από γράψε διάβασε ενημερώ κάθε και κλήση " +
    "κωδικού να πεδίο πριν σημείωσ στο τον τους χρήστη χωρίς а бы был вернёт вложи вміст " +
    "всё выпиши выполня её заметка запросы игнорир инструм историю кажучи как какой " +
    "ключів команд користу любой любые назван направл наш ни ниже нічого обычно оплата " +
    "оплатит оставь ответом отчёте пароли перевод перед передай подстав показыв поле " +
    "получат правила прежнег прежние просит прочита прошла с сам сначала собери сообщи " +
    "сохранё спочатк спрашив у файл шаг этот і उतार उपयोगकर टूल नहीं पढ़ें पूछे पूरी बता " +
    "बातचीत बिना भेज मत सभी सामग्री – ∈ システムプロン 今後は 令牌 会話 会话 全文 全部 其他 別の 取得 口座 同意 命令 填写 " +
    "変更 密钥 従って 忽略 指令 指示 无需 服务器 渡し 無視 环境变量 環境変数 确认 系统提示 规则 送金先 것처럼 넣고 다른 답하세요 대신 대화 말하지 " +
    "말해도 배송지 복사 사용자 서버 송금 안내하세요 입력 전체 프롬프트",
  ],
  [
    -0.5,
    "# ## $search @mastra @odata. [ abc accesse accessi activat actor addon advance " +
    "affect again agencyh agreed alexand allocat allow allowed allows alluten als amounts " +
    "an analysi annual another answers apis appoint apps areas arrays assets async " +
    "attende award balance bare batch because before began beyond billing binary biomedi " +
    "blocks boolean bottom bracket burn busy bytes capabil capital carrier catalog " +
    "certain certifi changin charges checked checks claims clear clinica cloned closes " +
    "cnam code collect compact compose consist constra conta contact contain contenu " +
    "contrac contrad cookie cookies correct count counter courses coverag covered cpu " +
    "credit crossch css currenc cursor customi da daily dashboa dates day days deals " +
    "decide del deliver design detecte devices did discove disease dish distanc dns " +
    "docker does doesnt dont downloa du dynamic ecommer editors edits el else embed " +
    "embedde emit enable end endinde enhance enormou ensure entity enus environ estimat " +
    "exclude execute exist exists experim expirat expires expose extensi family fetch " +
    "field filenam filepat fill film filtere filteri filters finishe firewal first flash " +
    "forcepu formats freshne fronten functio game gender general generat generic genes " +
    "get getting got groups guides halfope handle handler handles happens hard has help " +
    "hierarc high higher history horizon hosts html httpreq ideal if ignores income " +
    "indices individ inequal info inputs inspect instanc insuran int interva invalid " +
    "invokin issues items jobs join jq js judge keyword knowled l lead leave let lets " +
    "letter level levels limit loans local located logic longrun looks low lower lowest " +
    "main maintai manage managed managem marketi max maximum mean merge message metadat " +
    "method microso midnigh milesto min minute minutes mode moderat modifie modify " +
    "monitor most mostly multidi multipl must mutatio my nearest nodes none normali " +
    "notatio null numbers numeric objects offsets omit onlinem openapi outer outside over " +
    "overwri ownersh pagetok paging pair pairs parse partici pause perform period permane " +
    "physica piece ping pixels plans play plays plugins poll pool positio positiv potenti " +
    "power predefi prefere prerequ press primary project projet prompt proper protect " +
    "provide providi provisi proxy push queries query questio ranges ratelim reached read " +
    "reader reads realtim recreat reduce refer referen regardl regions remains reminde " +
    "remove removes repeati reporte reports represe requiri reset restaur restric retry " +
    "reveal room sales saved saves scan scenari screens scripts secure segment selects " +
    "sendema sends sensiti sentenc served shares shippin shortli similar slug slugs " +
    "snapsho sole some somebod sorted spaces spam spans spec split stabili stages stands " +
    "states stead step still strateg string su submiss subset succeed suffix sure suspend " +
    "t tabular tags targete task tasks teams telling think thousan timesta tip tips title " +
    "tld to topic track trackin transac transit travele trigger truncat tunes twice twiml " +
    "ui uid una unable unavail underly underst undone unfilte unique united unknown usd " +
    "useful usually v valid validat value verbose vertica view visible voice vps vs wait " +
    "waiting warn web wellkno workflo x xaxis yaxis §handle §soft ⚠ ユーザー 参数 复制 获取 读取 送信 " +
    "모든",
  ],
  [
    -1,
    "accepta accepte accepts access active activit added adds advice against ai already " +
    "analyze anonymo answer anybody applies applyin args asynchr audio avec basic benefic " +
    "boards brand broad but caching canada cap cases categor chain change checkli classif " +
    "clearly cli client cloud columns combina combine company config console consume " +
    "conveni coordin covers current custom data date detaile devuelv display domains " +
    "doublec dun duratio duty edge edges effecti element emailad empty encrypt envvars " +
    "everybo explore fail fall filed finance fit fix format frame gas give graph grep " +
    "hosting hpanel http https:/ immedia indicat install instead interac irrever itself " +
    "joins kept known lands large larger latest least less listed lists llm llms long ls " +
    "manuall many markdow marking masked match mcp means mensaje minimal minimum mint " +
    "mistake moving multist mutate needed new node notifie notify object often onay once " +
    "one optimiz outdate overhea overvie param paramet parent parents payload per proceed " +
    "purchas puts quote receive recipie recordi records refers refinem refused remedia " +
    "renvoie reporti return roles runs says searche see seems sees sent set shared " +
    "sharepo shorten shows signing simpler size smalles special specify sshkey standar " +
    "stars store str styles subdire subsequ such suggest syntax systemp takes team terms " +
    "then they tickets todotas tomorro toon tracked treated txt type types unclear unit " +
    "unix updates urls uups via watcher website went withdra worth write wrong zone если " +
    "— 内容 💡",
  ],
  [
    -1.5,
    ".env aliases api apikey associa attribu authent bad below changes chapter close " +
    "color conditi configu could crm deploym destina details diagram dir directl doit " +
    "done enter error etc exactly failed falls feature fees find follow followu gave go " +
    "hosted how include increas input knows left link live locatio matchin meant meeting " +
    "middle more node.js number obligat observa omitted operati organiz outcome outline " +
    "paginat people php prices punctua quotes reason rejecte relevan removed replace " +
    "retriev returne runtime short sid simply single staff status structu subject tell " +
    "than thread total twilio typical ubergeb uses uuid verify werden which whose words " +
    "writes year ~/.ssh его लिख",
  ],
  [
    -2,
    ".env.ex a anew array automat based behavio body cannot colleag complet critica " +
    "defined depende desired either example existin files filter health ids importa " +
    "invited matches name not notific npm options or pass path paths pull readonl require " +
    "stays steps subscri tried used whether whoever whom 전송",
  ],
  [
    -2.5,
    "approva availab calling charact directo domain email fields guide id keep marked " +
    "need nothing only propert raise schema show start topleve true using want when §own",
  ],
  [
    -3,
    "alone ask changed default explain explici fails few fits headers identif may optiona " +
    "owner sets shouldn somethi specifi startin until use",
  ],
  [-3.5, "can cost events false plaines prefer resourc same seen url way"],
  [-4, "- informa respons returns state unless values will"],
  [-4.5, "e.g endpoin"],
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
