/**
 * Written by bench/scanner/train.ts, see docs/adr/0012. Points of the phrases of
 * each sign, in their order, and how much a word speaks
 * for an order to a model (above zero) or for plain documentation (below); of words the beginnings,
 * seven letters at most. No word is telling by itself: a sentence is judged by all of them, and only
 * where it has signs as well.
 */
export const POINTS: ReadonlyMap<string, string> = new Map([
  ["act", "1.5 1 1 2.5"],
  ["address", "2 2 2.5"],
  ["against", "2 2 2 2 2 2 2 2 2 2 2 2.5 2 2 2 1.5 3 2 2 2"],
  ["agent-does", "3 2 3 3"],
  ["asked", "2 2 2 2"],
  ["asked-in-parameter", "1.5"],
  ["calls", "1.5 1 2.5"],
  ["cipher", "1 1 1 1 1 2 1.5 1 1"],
  ["collects", "2.5 1.5 3 2 2 2 2"],
  ["confided", "1.5 1.5 2 1.5 1.5 1.5 1.5 2 2 1.5 1.5 1.5"],
  [
    "context",
    "1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 2 1 1 2 1.5 1 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1 1.5 1 1.5 1 1.5 1.5 1.5 1.5 2 1.5 3.5 3 3.5 1.5 1.5 1 1.5 0.5 1.5 1 2 1 1 1.5 1.5 1.5 1",
  ],
  ["danger", "1 1 1 1 1 1.5 1 1 1 1 1.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2 1 1.5 1"],
  ["deed", "1.5 1.5 1.5 1.5 1 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1 1"],
  ["displace", "0.5 0.5 0.5 0.5 0.5 1 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 2.5 0.5 0.5 0.5 0.5"],
  ["divert", "1 1 1 1 1 1 1 1 1 1 1.5 1 1 2 1 1 1 3 1 1 1 1 1 1 1.5 1.5 1 1.5 1 1 1 1"],
  ["elsewhere", "2 2.5 4 3.5 2 3 2 2 2.5 2 1.5 2 3 2 1.5 2 3.5 1 2.5 1.5 2"],
  ["exclusive", "1 0.5 1 1 0.5 0.5 0.5 0.5 1.5"],
  ["excuse", "1.5 1.5 1.5 1 1 1.5 1.5 1.5 1.5 1.5 1.5 1.5"],
  ["exposure", "1.5 2 1.5 2.5 2 1.5 1.5 2 2 2 2.5 1.5 2"],
  ["extra", "1.5 1.5 1.5 2"],
  ["grab", "1.5 1.5 1.5 1.5 1.5 2 1.5 2 3 1.5 2 2 2 2 1.5 2"],
  ["hand-over", "1 1.5 1 2.5 1.5 1.5 0.5 0 2 1"],
  [
    "hide",
    "1 1 1.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1.5 1.5 1 1 1 1 1 2 1 1 1 1 1 1 1 1 1.5 1",
  ],
  ["in-the-name", "1.5 1.5 1.5 1 1.5 1 1.5 1.5 1.5"],
  ["kept-off", "1 1 1 1 1.5 1 1 1 1 1 1 1.5 1 2 1"],
  ["lasting", "1 1 1 1 1"],
  [
    "lie",
    "1 1 1 1 2 1 1.5 1 1 0.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
  ],
  ["lifted", "2 2 2 2 2 1.5 1.5 2 4 2.5 2 2.5 2.5 1.5 2 2 2 2"],
  [
    "machine",
    "2 2 1.5 2 2 2 2 1.5 1.5 1.5 2 2 2 2.5 2 1.5 1.5 1.5 2 2.5 1.5 3.5 2.5 1.5 2 2 2 2 1.5 1.5 2",
  ],
  ["model", "0.5 0.5 0 0.5 0 0.5"],
  ["money", "1"],
  ["obey", "1 1.5 1 1.5 1 1 1.5 1.5 1.5 1 1.5 1 1 1"],
  ["order", "1.5 1 0.5 1 1 1 1 0 1.5 0.5"],
  ["others-calls", "2 5.5 0.5 2 2"],
  ["p-agent", "3 3 3 3.5"],
  ["p-context", "4.5 4.5 4.5 4.5 4 4 4.5 3.5"],
  ["p-machine", "2 2 1.5 3 1 1.5 2 1.5 1.5 1.5"],
  ["p-person", "2 2 2 2.5 3.5 2 2 4 2 2.5 2.5 2 2"],
  ["p-secret", "2 1 1 1.5 1 1 1"],
  ["p-source", "1 2 2.5 2.5 2.5"],
  ["people", "0"],
  ["personal", "1 2.5 2.5 2.5 2.5 2.5 2.5 2"],
  ["phish", "1 1 1 1"],
  ["plant", "2 2 1.5 2 2 2"],
  ["posed", "1.5 1.5 2 1.5 1.5 1.5 1 1.5 2 1.5 1.5 1 1.5 2 2"],
  ["praise", "2 1 1 1.5 1 2.5 1 1"],
  ["promote", "1.5 1.5 1.5 1.5 1.5 1.5 2.5 1.5 1.5 1.5 1.5"],
  ["quiet", "1.5 1 1 1 1 1 1 1 1 1 1 1.5 4.5 2 1 1"],
  ["rarely", "1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5"],
  ["reply", "1 3.5 1 0.5"],
  ["report-as", "1 1.5 1.5 1 0.5 1.5 1 1"],
  ["reshape", "1.5 0.5 0.5 0.5 2 0.5 0.5"],
  ["rewire", "0.5 0.5 0.5 0.5 0.5 0.5 0.5"],
  ["role", "1 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 1 0.5 0.5 0.5 0.5 0.5 0.5"],
  ["secret", "1.5 1.5 2 1.5 1.5 1.5 1.5 1 0.5 1.5 1.5 5 1.5 1 1.5 1.5"],
  ["shun", "1.5 1.5 1.5 1.5 1.5 1.5 2.5 1.5 2 2 1.5 1.5 1.5 1.5 1.5 1.5"],
  ["slot", "1.5 3"],
  ["taken-as", "2 2 1 2 2"],
  ["talk", "1.5 2 1.5 2.5 1.5 1.5 1.5 1.5 1.5 1.5 2.5 2"],
  ["trigger", "1 0.5 1 1 0.5 0.5 1 1 1 1 0 0.5 0.5 1 1 1 0.5 2"],
  ["unaltered", "2 1.5 1.5 1.5 1 1.5"],
  [
    "unasked",
    "1 1 1 1 1 1 1 1 1.5 1.5 1 1 1 1 1 1 1.5 1 1.5 1 1 1 1 1 1 2 1 2.5 2.5 1.5 1 1 1.5 1 1.5 1 1.5 1 1.5 1.5 1 1 1",
  ],
  ["voice", "1 0.5 1 1 0.5 1 1 1"],
  ["whole", "2 0"],
]);

/** What a tool does is said first, orders come later; and some places are none for sentences. */
export const PLACES = { later: 1, aside: 3, odd: 3, parameter: -2 };

const BY_WEIGHT: readonly (readonly [number, string])[] = [
  [
    4.5,
    "assista behind chat develop extra home makes me operato our ours servers session " +
    "trace vendor whateve §email",
  ],
  [4, "alterna anythin here hex intent officia overrid person ssh thought transcr"],
  [
    3.5,
    "& append asked bg booked card de goal hand la out pem persons policy respond shell " +
    "ultimat wheneve workspa §dotfil §hard §server рaypal",
  ],
  [
    3,
    "adminis agent along bar crashed dialogu dump each every everyti export forward grant " +
    "guideli hints host memo neednot needs off passwor please pretend reasoni safe " +
    "securit ten termina webhook wonders yoursel §foreig §host 利用者",
  ],
  [
    2.5,
    "above account act afterwa agents always apply ascii autoapp aws been charge context " +
    "convers d deletio diagnos die disk disrega down everyth five hexadec http:// instruc " +
    "just last le legal moved nobody obeys part plan printen put region relay report " +
    "safety say someone stripe submit switch too treat twofact us users wants waterma " +
    "§act §cmd §number 必ず 도구",
  ],
  [
    2,
    "+ ads any anyone as asc asks auth backups bank best book breaks bundle chainof " +
    "cheaper choosin cleared cluster cmd come comes command comply decline definit des " +
    "descrip di dialog differe directi disable do dropped elsewhe employe en entire even " +
    "expiry four fuller gap gh holding househo ignore kestrel leading letters line mails " +
    "mbox module obey others palette patient place prefera print prior profile que quiet " +
    "readers reasons recap recover refusal reposit rest rights rule run script selecte " +
    "service setup sh shortes shown signatu site skip slows sources spoken suggest " +
    "switche take talk tap test though ticket togethe tool tracing travel typed und up " +
    "urldeco usual vale whichev while yes §tool §url и ツール 所有 收款 账户 转账 계좌 바꾸 항상",
  ],
  [
    1.5,
    "$home able add address agree among anonymi apikeys approve asking at audit back " +
    "backgro backup between block board boost bootstr brokera builtin calcula called " +
    "caller callers carried choose chooses closed closing column coming comment compare " +
    "competi compute concier conflic connect convhis copia core.ho crash decode deep den " +
    "departm der derived direct discard docs documen door drops e encode et externa fare " +
    "fee feed finding formali fortnig found fresh fromnow fully goahead hartley have " +
    "hence hint homedir hr i interpr jira jokefee key know las learns legitim lives " +
    "locale log machine mark matter meet mirrore month mood na ne nicht no nor notice " +
    "noticed offset onetime operate order origina otherwi ought outofof outrank package " +
    "passed passpor paste percent phrase pick pixelki plumber plus preambl present " +
    "printed process prod prove public rank rarely raw real recorde refresh refunds " +
    "remote reply reponde rereads resigne saying se seed seem select shall share shops " +
    "should side sides signed smooth sons speak straigh strippe success sudo sums superse " +
    "testing theme tone twenty unpacks urlenco ve we window wish wording ~/.ssh/ §qualif " +
    "в счёт مستخدم すべて 不要 他の 代わって 工具 承認 用户 무시 받는 지침",
  ],
  [
    1,
    "% -- .dessap .ssh /tmp/.t <!-- acilirs admin all another answere anterio appear " +
    "applica arrives aside attach attache attachm auditor auf authors aux avoid away b " +
    "badly bash begin bericht binding bisheri bodies bother brokers by c calenda canary- " +
    "cancell carry champ chart chats checksu child ci codes communi compari concate " +
    "conferm confide config/ continu copy crashes custome dans dautori days dbg debug " +
    "degrade dellute deren desc desktop digest discrep discuss doing drive drop du " +
    "earlier echo echoed eht eight einzube emergen encoded endet ends engine enrichm " +
    "entry envoye erteils escalat escapes este ete eteled evaluat ever evet exclusi exec " +
    "ext extpart fenetre figure figures filled final fine fivesta fixed flags folder " +
    "force former freigab fugen fund g gathere gepruft gets getsess git goes good googles " +
    "green growth- guardra guest habitue harmful having headsup helper hexcode hide hit " +
    "hold hostnam hour house human ici illness im images improve in inciden includi " +
    "inferre inform informe ingress inquire insecur insert interro into invest invisib " +
    "invoice istruzi it its jar job joined json keeps kessler khong konto kubectl later " +
    "leans learned led legally liable library lifted like lines list listing loads lock " +
    "locked logged login lon ltd made maiden mailed manual market medicin memory mention " +
    "met mialc mirror mirrors missed models moment mothers much namehol narrati navigat " +
    "nc necessa neht newest nine nodehel nota notion nutzer oauth occupan of offer offers " +
    "ohne on onayla ones open opened opens opsbot orders oui output outputs page para " +
    "partner pas pattern payee payment pencere photo placed plantoo plumbin postcon " +
    "postins posto posts praises precede premium pretext prints private privile probe " +
    "problem produce product prof prompts proof prosecu prozess publicl quantit quarter " +
    "queries qui raises ranks rates rateslo reachab reading receipt recomme recompu rely " +
    "remark render renewed reorder reporte reserva restart restore result result. results " +
    "reviewe reviews richies rien routed rows ruckfra sachbea safer sandbox sans seat " +
    "secrets selbst selecto selftes semicol server server. several shop si sie slack slip " +
    "slow small smileys smuggle sofern span sponsor spot spukcab staging standin stated " +
    "stateme stay steal steht strings sts supplem supply svcsync swap tab tables tailor " +
    "taken tekcub telemet tells tend texts that their themsel there those three through " +
    "timetab titled today token told tongue tools trail transie truoc trusted trustwo try " +
    "trying tset tue turn tutta twentyf umgebun unchang unmenti unpacke unread unredac " +
    "unrelat upload uploadi usuario va valent var variabl verbati verifie verifyi verwend " +
    "visibil vote vous warm weather whatsap white who wholesa why wins withhel works " +
    "worry would written xkey yearly yerine ymfzaca you §envnam на ни подтвер поле " +
    "получат спрашив что الأداة الحقل القواعد تأكيد تجاهل كامل उपयोगकर お伝えしない バックアップ 一字不差 " +
    "之前 入れて 其他 削除 原文 对话 替用户 服务器 点同意 由你 것처럼 사용자 😊",
  ],
  [
    0.5,
    "$ %appdat .$ ./.cach .cursor .git/co .json .key .npmrc .nvmrc .x.dnsp /assist " +
    "/bin/sh /etc/pa /etc/re /etc/sh /home /tmp/.h <- @conver @ext-ma [[ abaikan abaixo " +
    "abobql absence absent absolut accent accept accompa acct accurac accurat achieve " +
    "acme acts adding admit ado adopts adverti aerolum airline al alanina alarm alerts " +
    "alike altro amount analyti anche and andere anderer anderes annex announc anotara " +
    "anstell answeri antes anthrop anwende ao apparen appel appels apples araci aracin " +
    "archive arent argumen arithme arjrfg arquivo arrange arrive artefac asagida asisten " +
    "assembl assiste assure atas atlas att auch aunque auth.us authori auto autofil " +
    "autres avant baca backdro backend bancair bankver basis bcc beantwo bearer bears " +
    "bedrag begins behalf beim being believe belongs benefit benutze bestati bien biet " +
    "bind bitte blame blank blurred board-d booking bookmar boqua borra botheri bottles " +
    "box brellin bring bringin brings broker brought browser bs bu bucket budget bug " +
    "buscara bw bypass bytes cac cache cada calcul calibra calisti calls camera campaig " +
    "campo cani capture case cast cc center centre cents cet channel chaque chartwr " +
    "chat.to chave che check checkin chmod cho chosen chu cikarsa cio city claude. cle " +
    "cleanin cleanup cliente clientk clocks coach codigos colon commits compani composi " +
    "compres compte con concern conclud conecta confirm confuse consent consign consumi " +
    "contain copiar copie copied copies corpora correo counts crashlo create credenc " +
    "credent creditc critici crypto csv cuenta cuoctro cure customa cut dan dangero " +
    "daolpu dapi das davon deal dealt debit debited debuggi decade decoded deducib " +
    "delight deliver dem demande demas denies deny depend depends deployb depot despite " +
    "despues destruc detail dies dieses diffs disappe disappo discree discret dislike " +
    "disposa disqual dna dock dollars dondurd donors dotenv doubled drafts driver dumpkey " +
    "dung dvkestr earn ed editor een eerdere eicar ein eine eingehe elevate elif elpmaxe " +
    "embarra empfang emptied enabled encamin enclose enderec ending enginee english " +
    "enthusi env enviea equals erase erforde esegui esta establi eth etonne eur event " +
    "events[ evidenc exceeds existed existin expect expensi experie face facilit facts " +
    "fair fait falsifi faltet fastaut fasting fastlib fate favor fbyirq feld ferrame " +
    "festive fetchin finish firm flag flexibl flush flushed foi fold folded followe " +
    "follows for=mod forbid forceco forget fork form forma formed fornisc forty fraga " +
    "fragmen from front fssl ftp://a fulfill fwd gaat gateway gb gel gelten gesprac " +
    "ghpages gift ginkgo git.for glowtea glue gmail gonder google gormezd gotta gpl grab " +
    "great group gryy guests guidanc gur habia half handed handlin harbour harmles he " +
    "heads hear heard hearing hears heartbe hela hello helpful hencefo hereby herrami " +
    "hesaba het hiccup him his hoi holder holds hook hosts hotels http.pr huongda hurt " +
    "iban icao identit ignora ignorer ignorie immer immutab import@ impress inaccur inbox " +
    "indexur indispe init inne inquiry inseris insight instead instruk insurer interfa " +
    "interfe interru inutile invent investi invoke invoked irrespe isnt issue ist ja " +
    "jamais jesli johns joignez joindre joining jurarir k kava kayitli kb ke keepass " +
    "kernel keychai keys khoa kieruj kindly klant komutla konvers kopie@p kunde kuralla " +
    "label lacks lakes lane lang laptops largest lassist lawyers leads leak leaks learn " +
    "leave leaves lechang leftpad leitet les leveldb liban lies likes limits linear. " +
    "lintegr lisez listeni live llet lo loaded loading locate log=ver loggedi login.k " +
    "logins look looking lost love loyal luck lugar luon lutente lying ma manager mandato " +
    "matched materia mb medchec median medical mehr members memorie mended mensage " +
    "meridia messeng meta meter metrics mfa microph mientra mild miss mit mixed model " +
    "modele modell money monthly months muss mustnot mute my naar nada nama named naming " +
    "naq narzedz nationa nawet nay nb negativ negeer neglige neither nel neste net " +
    "network neue neutral newline newslet nft nguoidu nichts niez noemt noi nontech " +
    "nordvau normall normas northwe notices notion. notre obeyed obtenha occasio odemeyi " +
    "office ok oku old oldest olvide onceki onze ook op openai ordered orderin origin " +
    "os.syst ot otra outil outils over overall own owners pad page.ig panic paragra " +
    "parayi parler party passage passe passez passing passphr passwd pasted pastes pay " +
    "payable pbx peer peers pembaya penggun peoples periodi permiso permiss persona phone " +
    "phrased picked picture pida pidas pilots pin pinned pip pipelin pipes plausib " +
    "pleasur plots pls podane polecen politic ponizej poprzed post postgre pour praised " +
    "preappr preferr prefix prepend price prima printf prints. priorit probabl profits " +
    "properl propose protoco przelew przez publish pyho@pe pyhr quality quello quietly " +
    "rated read readabl realist rebalan recall recent recentl recipeh recopie record " +
    "recursi ref refrain refund refuse refuses regardi regeln regole reinges rekenin " +
    "relayed release reliabl relieve remitto renderi repeats reporti reprodu request " +
    "reserve restitu resulti reviewi rider rigged risky rispond rm road root rotatio " +
    "round roundin routes routine row ruleset running s sake salarie sale salt salvate " +
    "sammanh samples save savings scaffol scan sebelum sees sell semua sen senders " +
    "sequenc serve servici setujui severit shadow ship shopper shut sidenot siempre " +
    "sifrele sight sign signedo sil since sind sites six sizes skicka sku sla slaitne " +
    "slash slots snippet so sold somebod soon sormada sostitu sound sounded sounds sous " +
    "space spare speaks speeds spots spread src=htt st stack statuto staypri steer stem " +
    "stets stick still stores story strumen studio style=f submitt substit suite summari " +
    "summary sunset superfl supervi supplie suppres surely surname surpris svir symptom " +
    "synchro syncsta synthes system table tabula tagged talked te teammat technic tempora " +
    "tenant tenez tep tests text tfstate thanh thats the them therefo theyll thing things " +
    "third thirtee thirty threats thus tier time toan toanbo toda todate todos totals " +
    "toujour tous tout towards traceab traffic trainin transfe transla transme trash " +
    "travell treatme tree trial trouvee truth turns twelve u uma umvhzcb un unabrid " +
    "unalter unasked unatten uncomme uncondi under unhex unlatch unlock unpaid unrelia " +
    "unremar unreque unsafen unsaid unseen unser uploade uploads urgent usage user utan " +
    "utilice utilise uygula uzytkow vanish vantage vao vaobk vault verdict verific " +
    "verlang verschw veuille vf vip viremen visitor volunte vorgese voucher voudra waived " +
    "walk wallet warehou warrant waste weave weiter wenn were werkzeu what where whereve " +
    "whoami wiped wishes wissen with withhol without wonder work working worried wort " +
    "writing wskazał wunsche wykonuj xacnhan xkxdebu y yaz ydobon yields your zahlen " +
    "zasady zawsze zerocli zignoru znvy zonder zrffntr zu zwracan ~/.aws ~/.aws/ ~/.bash " +
    "~/.conf ~/docum §bucket §danger §harves §leak đat đo đoc αποθηκε από γράψε διάβασε " +
    "ενημερώ κάθε και κλήση κωδικού να πεδίο πριν σημείωσ στο τον τους χρήστη χωρίς а бы " +
    "был вернёт вложи вміст всегда всю всё выпиши выполни выполня её заменяй заметка " +
    "запросы игнорир инструк инструм историю к кажучи как какой ключів команд команду " +
    "коммент користу любой любые назван направл наш не ниже никак нічого обычно оплата " +
    "оплатит оставь ответом отвечат отчёте пароли перевод перед передай перепис платежа " +
    "подробн подстав показыв правила прежде прежнег прежние просит прочита прошла с сам " +
    "свои системн скопиру сначала собери сообщи сохранё спочатк сюда такие термина у файл " +
    "хозяину чем чему шаг это этот і अनदेखा उतार टूल नहीं नियमों निर्देश पढ़ें पूछे पूरी " +
    "बता बातचीत बिना भेज सभी सामग्री ∈ システムプロン ユーザー 今後は 令牌 会話 会话 你 全文 全部 删除 別の 取得 口座 同意 " +
    "告诉 填写 変更 密钥 従って 忽略 指令 指示 无需 智能体 每次 渡し 环境变量 環境変数 确认 系统提示 规则 読み 送金先 넣고 다른 대신 대화 말하지 " +
    "말해도 배송지 복사 서버 송금 안내하세요 입력 전체 프롬프트",
  ],
  [
    -0.5,
    "## $expand $top .gitign / /api/ho /home/u /import = @mastra @mentio @odata. [ abc " +
    "about accesse addon addonre affect agencyh alg alle allocat allowin alluten als " +
    "alter althoug an animate answer answers anybody anywher app applied appoint arrays " +
    "assets assigne async attempt audienc authent author award awk balance bare because " +
    "before beginni belong benefic beyond billing boolean border= borders bottom bought " +
    "bracket canada cancel canvas cards carrier caseins catalog cell cells change changin " +
    "charges checked checkli checks chunks claims clean click client cms cnam commase " +
    "committ company compile compose compreh consequ conside conta contrac contrad " +
    "control cooked correct courses coverag covered cpu credit crm css ctx customi da " +
    "daily dashboa data datacen dataset day deadlin deals define del deleted depreca " +
    "design detecte determi devices disconn disease dish distanc dkim dns docker dom dont " +
    "downloa duratio duty dynamic ecommer editing edits effect el embed embedde emit " +
    "emoji enable enables encrypt enormou enough entered entirel entries envelop envvars " +
    "episode epoch eq essenti everyon ex excepti exclude execute expirat explain expose " +
    "faces fall family fast field fields. filed filenam filepat files fill film filtere " +
    "filters finance finds finishe follow font for forcepu forecas forgott frame full " +
    "functio further game gcp general genes genre get getbroa getting gettipt go greetin " +
    "guesses guides halfope handle handler handles handwri happens hard heading headles " +
    "height histori horizon hot hourly however html httpreq ideal ideally idle ignored " +
    "ignores il image img imports incomin indexed indices inequal inline inputs inside " +
    "inspect instanc insuran int interva invokin ipacces issues issues[ item jobs join " +
    "joins jq js judge kept knowled kql l labels lands languag layout letter level levels " +
    "limited linux locks logic longer longrun looks lower lowest mailbox main managed " +
    "managem many match mechani meets merge merged microso midnigh might migrate milesto " +
    "millise min mind minimal mix moderat modes modifie modify monitor mono moves multist " +
    "must mutatio nach nearest nested never new news next node nodejs none normali " +
    "notatio note numeric o obtaine offsets omdb omdbs onchain one onlinem openapi option " +
    "orienta other outside ownerid pages pagetok pair panel parents parse partial parts " +
    "pdfs perform persist photos physica piece ping pixels plans play plays plugins poll " +
    "pool positio power precedi predefi prerequ presenc preserv primary princip proceed " +
    "proper proprie proxy query range ranges ratelim rather ratings react reader reads " +
    "realtim recalle recalli redirec reduce refer referen refs regardl regex registe " +
    "religio remains reminde remotes remove removed repeati replace reports represe " +
    "requiri reset restaur restruc retry return reveal revert role room runs said sales " +
    "saved saves saving sc-doma scanned scope scripts searche season second secure " +
    "segment sendbro sendema sensiti served setting sha shares shippin shorten shortli " +
    "signing similar singlel skipped slides slug slugs smtp sole solutio some sorted " +
    "spaces spans spec split sql stabili stages standal stands stat stock stop str string " +
    "style subdire subset suffix suspend sync synced t tabular targete team teams telling " +
    "temp templat tilde timeout tip tips tiptap titles to todotas top topic traces track " +
    "tracked trackin transpo truncat tunes turned tus una unable undersc undone unified " +
    "united univers usd userid uuids valid value various version vertica very voice " +
    "volumes vs vue warn warning web webp weeks wellkno which whole width worked wrap " +
    "writer x yyyymmd zip ~/ → 传入 参数 复制 获取 读取 모든",
  ],
  [
    -1,
    "# $filter .env /rest/a accepts access accessi across active activit additio adds " +
    "advance against alexand analysi analyze anonymo anyway apikey apis applyin apps args " +
    "asynchr audio avec azure bad batch beautif binary branch brand broad burn but " +
    "caching cap capabil capital carries cases catch classif clear clearly cli clickab " +
    "collect columns combine common compact compone config consoli contenu cookie cookies " +
    "counter covers crossch currenc cursor custom date decisio defined delegat devuelv " +
    "does doit dun edge edges effecti emailad end enhance entity environ errors especia " +
    "estimat everybo exactly exist exists experim expires explore fail feature fetch " +
    "filteri firewal fit fix format formats fronten going grants graph grep groups higher " +
    "http https:/ immedia importa indicat info interac interna items itself keep keyword " +
    "known large less let limit links logs long ls manage manuall mapping markdow master " +
    "matchin matters max maximum means meant mensaje message metadat middle minimum mint " +
    "mostly moving multidi multipl mutate native next.js notify object objects omit onay " +
    "once os outdate overvie overwri ownersh paging pairs partici pause payload positiv " +
    "practic prefere press progres project projet prompt protect providi punctua purchas " +
    "questio quote receive recordi refers refinem refused regions remarks remedia removes " +
    "renvoie restric says scenari screens secret see selects sent separat shared sharepo " +
    "size softwar special specify sshkey staff standar statuse step strateg su subsequ " +
    "succeed target= task terms they think tickets timesta title tomorro toon treated " +
    "unavail unclear underly unique unit updates verbose visible was watcher website week " +
    "workflo worth year zone если ⚠ 内容 前に",
  ],
  [
    -1.5,
    "accepta accepte again agreed aliases allow allows applies associa attribu autodep " +
    "basic below better boards branchi categor certifi chain changes choice close code " +
    "colleag complet conditi console consume conveni coordin country critica destina " +
    "detaile diagram did dir display domains done double doublec draw.io element example " +
    "express feeds fees followu gas gave hosting how hpanel increas individ input invited " +
    "irrever knows latest least listed llms locatio maintai making marketi marking masked " +
    "mcp minute mistake mobile need needed node.js notifie number obligat often optimiz " +
    "overhea param parent per prices pull readonl reason recipie records rejecte relevan " +
    "remembe runtime seems sends set shows sid simpler simply sip smalles son stars " +
    "status structu styles subject systemp thread threadi trigger true tv twice txt " +
    "typical ubergeb underst unix urls uses uups validat via vps went werden when whom " +
    "whose wrong ~/.ssh §own его लिख — 内容を 전송 💡",
  ],
  [
    -2,
    ".env.ex a advice ai array based body chapter color could current deploym desired " +
    "directl discove either enter error etc failed falls find give include link lists " +
    "local marked method more name not null observa omitted operati options or organiz " +
    "outcome outline paginat php provide puts require retriev returne roles short single " +
    "stays store subscri such sure syntax total used useful verify words write 送信 전에",
  ],
  [
    -2.5,
    "already anew api approva behavio cannot charact combina depende domain email empty " +
    "filter health hosted left matches muted notific npm path paths propert quotes raise " +
    "show startin steps topleve twilio type use uuid whether whoever",
  ],
  [
    -3,
    "alone ask automat availab configu cost default directo events explici fails few " +
    "fields fits guide id ids only owner permane shouldn somethi start tell tried until " +
    "using want writes",
  ],
  [-3.5, "calling can false headers identif optiona pass schema seen sets specifi url values"],
  [-4, "informa may plaines resourc respons same state unless will"],
  [-4.5, "- changed e.g endpoin prefer returns"],
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
