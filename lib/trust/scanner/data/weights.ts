/**
 * Written by bench/scanner/train.ts, see docs/adr/0012. Points of the phrases of
 * each sign, in their order, and how much a word speaks
 * for an order to a model (above zero) or for plain documentation (below); of words the beginnings,
 * seven letters at most. No word is telling by itself: a sentence is judged by all of them, and only
 * where it has signs as well.
 */
export const POINTS: ReadonlyMap<string, string> = new Map([
  ["act", "1 1 1 2"],
  ["address", "2 2 2"],
  ["against", "2 1.5 1.5 2 2 2 2 1.5 1.5 1.5 1.5 2.5 1.5 2 2 1.5 2.5 1.5 1.5 1.5"],
  ["agent-does", "3 2 3 3"],
  ["asked", "1 0.5 1 1"],
  ["asked-in-parameter", "1.5"],
  ["calls", "1.5 1 2.5"],
  ["cipher", "1 1 1 1 1 2 2 1 1"],
  ["collects", "2.5 1.5 3 2 2 2 2"],
  ["confided", "1.5 1.5 2 1.5 1.5 2 1.5 2 2 1.5 1.5 1.5"],
  [
    "context",
    "1.5 1.5 1.5 1 1.5 1 1.5 1 1 1.5 2 0.5 1 2 1.5 1 1.5 1 1.5 1.5 1.5 1 1.5 1 1.5 1 1.5 1 1.5 1 1.5 1 1.5 1.5 2 1 3.5 3 3 1.5 1.5 0.5 1 0.5 1.5 1 2 1 1 1.5 1.5 1 1",
  ],
  ["danger", "1 1 1 1 1 1 1 1 1 1 1.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2 1 1.5 1"],
  ["deed", "1 1 1 1 1 1.5 1 1.5 1 1 1 1.5 1 1"],
  ["displace", "0.5 0.5 0.5 0.5 1 1 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 2.5 0.5 0.5 0.5 0.5"],
  ["divert", "1 1 1 1 1 1 1 1 1 1 1.5 1 1 2 1 1 1 3 1 1 1 1 1 1 1 1.5 1 1.5 1 1 1 1.5"],
  ["elsewhere", "2 2.5 4 3.5 2 3 2 2 2.5 2 2 2 3 2 1.5 2 4 1.5 2.5 1.5 2"],
  ["exclusive", "0.5 0.5 1 0.5 0.5 0 0.5 0.5 1.5"],
  ["excuse", "1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 2 1.5 1.5"],
  ["exposure", "1.5 1.5 1.5 2.5 2 1.5 1.5 2 2 2 2 1.5 1.5"],
  ["extra", "2 1.5 1.5 2"],
  ["grab", "1.5 1.5 1.5 1.5 1.5 2 1.5 2 3.5 1.5 2 2 1.5 2 1.5 2"],
  ["hand-over", "1 1.5 1 2.5 1.5 1.5 0.5 0 2 1"],
  [
    "hide",
    "1 1 1.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1.5 1.5 1 1 1 1 1 2 1 1 0.5 1 1 1 1 1 1.5 1",
  ],
  ["in-the-name", "1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5"],
  ["kept-off", "1 1.5 1 1.5 1.5 1 1 1 1.5 1 1 1.5 1 2 1.5"],
  ["lasting", "1 1 1 1 1"],
  [
    "lie",
    "1 1 1 1 2 1 1.5 1 1 0.5 1 1 1 1.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
  ],
  ["lifted", "2 2 2 2 2 1.5 1 1.5 4 2.5 2 2 2 1.5 2 2 2 2"],
  [
    "machine",
    "1.5 1.5 1.5 1.5 2 1.5 2 1.5 1.5 1.5 1.5 1.5 1.5 2.5 1.5 1.5 1.5 1.5 1.5 2.5 1.5 3.5 2.5 1.5 1.5 1.5 1.5 2 1.5 1.5 1.5",
  ],
  ["model", "0.5 0.5 0 0.5 0 0.5"],
  ["money", "1"],
  ["obey", "1 1.5 1 1.5 1.5 1 1.5 1.5 1.5 1 1.5 1 1 1.5"],
  ["order", "1.5 1.5 0.5 1 1 1 1 0 1.5 0.5"],
  ["others-calls", "2 6 0.5 2 2"],
  ["p-agent", "3 3 3 3.5"],
  ["p-context", "4.5 4.5 4 4.5 4 4 4.5 3.5"],
  ["p-machine", "2.5 2 0.5 3 1.5 1.5 2 1.5 1.5 1.5"],
  ["p-person", "2 2 2 2.5 3.5 2 2 4 2 2.5 2.5 2 2"],
  ["p-secret", "1.5 1 1 1.5 1.5 0.5 1"],
  ["p-source", "1 1.5 2 1 1.5"],
  ["people", "0"],
  ["personal", "1 2.5 2 2 2.5 2.5 2.5 2"],
  ["phish", "1 1 1 1"],
  ["plant", "2 2 1.5 2 2 2"],
  ["posed", "1 1 1.5 1 1 1 1 1 2 1 1 1 1 1.5 1.5"],
  ["praise", "2 1 1 1.5 1 2.5 1 1"],
  ["promote", "1.5 1.5 1.5 1.5 1.5 1.5 2.5 1.5 1.5 1.5 1.5"],
  ["quiet", "1.5 1 1 1 1 1 1 1 1 1 1 1.5 4.5 2 1 1"],
  ["rarely", "1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5"],
  ["reply", "1 3.5 1 0.5"],
  ["report-as", "1 1.5 1.5 1 0.5 1.5 1 1"],
  ["reshape", "1.5 0.5 0.5 0.5 1.5 0.5 0.5"],
  ["rewire", "0.5 0.5 0.5 0.5 0.5 0.5 0.5"],
  ["role", "1 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 1.5 0.5 0.5 0.5 0.5 0.5 0.5"],
  ["secret", "1.5 1.5 2 1.5 1.5 1.5 1 0.5 0.5 1.5 1.5 5 1 1 2 1"],
  ["shun", "2 2 2 2 2 2 2.5 2 2.5 2 2 2 1.5 2 2 2"],
  ["slot", "1.5 3"],
  ["taken-as", "1.5 2 1 1.5 2"],
  ["talk", "1.5 2.5 2 2.5 1.5 1.5 1.5 1.5 1.5 1.5 2.5 2"],
  ["trigger", "1 0.5 0.5 0.5 0 0.5 0.5 0.5 0.5 0.5 0 0.5 0 1 0.5 0.5 0.5 1.5"],
  ["unaltered", "2 1.5 1.5 1.5 1 1.5"],
  [
    "unasked",
    "1 1 1 1 1 1 1 1 1.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2 1 2.5 2.5 1.5 1 1 1 1 1.5 0.5 1.5 1 1 1.5 1 1 1",
  ],
  ["voice", "0.5 0.5 0.5 1 0.5 0.5 0.5 1"],
  ["whole", "2 0"],
]);

/** What a tool does is said first, orders come later; and some places are none for sentences. */
export const PLACES = { later: 1, aside: 3, odd: 3, parameter: -2 };

const BY_WEIGHT: readonly (readonly [number, string])[] = [
  [
    4.5,
    "anythin assista behind chat develop extra makes me operato our ours session thought " +
    "trace vendor whateve §email §hard",
  ],
  [4, "alterna hex home intent overrid person servers ssh transcr"],
  [
    3.5,
    "& act append bg booked de goal here hints la memo officia pem persons please policy " +
    "securit shell ultimat wheneve workspa рaypal",
  ],
  [
    3,
    "adminis agent along always bar card crashed d diagnos dialogu every everyth everyti " +
    "export forward grant guideli hand host neednot needs off out passwor plan pretend " +
    "put reasoni safe safety ten termina too treat webhook wonders §cmd §dotfil §foreig " +
    "§host §number §server 利用者",
  ],
  [
    2.5,
    "above account afterwa agents apply ascii autoapp aws bundle charge cleared come " +
    "context convers deletio die disk disrega down dump five http:// just last le leading " +
    "legal line nobody obeys others part paste printen public region relay report say " +
    "signatu skip someone straigh stripe submit switch tool twofact users wants yoursel " +
    "§act §tool 도구",
  ],
  [
    2,
    "+ ads any anyone as asc asked auth backups bank been best book breaks chainof " +
    "choosin cluster cmd comes command comply decline definit departm des descrip dialog " +
    "differe directi disable dropped each elsewhe employe en entire even expiry gap gh " +
    "hexadec holding homedir househo ignore kestrel know legitim letters logged mails " +
    "mbox meet module moved noticed obey operate otherwi outrank palette patient pick " +
    "place prefera print prior profile prove que quiet readers reasons recap recover " +
    "refresh refusal reposit rest rights rule run script seem selecte setup sh shortes " +
    "shown site sources spoken strippe suggest switche take talk tap test though ticket " +
    "tracing travel und up urldeco us vale waterma whichev while §qualif §url и ツール 必ず 所有 " +
    "收款 账户 转账 계좌 바꾸 항상",
  ],
  [
    1.5,
    "$home able add address admin agree anonymi apikeys approve aside asking asks audit " +
    "back backgro backup between block board boost bootstr builtin callers carried " +
    "cheaper choose chooses ci closed closing column coming comment compare competi " +
    "compute conflic convhis copia core.ho crash decode deep den der derived desktop di " +
    "direct discard do docs documen e earlier eht et externa fare fee feed finding " +
    "formali fortnig found four fresh fromnow fuller fully goahead hartley have hence " +
    "hide hint hr i instruc interpr into jira las learns lives locale log mark matter " +
    "memory mention mirrore mood na ne nicht no nor notice notion offset ones onetime " +
    "opens order origina ought outofof package passpor percent phrase pixelki plumber " +
    "plus preambl present printed process prod raises rarely real recorde refunds remote " +
    "reponde rereads reserva resigne respond saying se seed select shall share should " +
    "side signed slows smooth sons speak sudo superse swap tailor testing togethe tone " +
    "try twenty typed unpacks urlenco usual ve verifie we wish wording yearly yes ~/.ssh/ " +
    "в счёт مستخدم すべて 不要 他の 代わって 对话 工具 承認 用户 무시 받는 지침",
  ],
  [
    1,
    "% -- .dessap .ssh /etc/sh /tmp/.t <!-- acilirs all among analyti another answere " +
    "anterio anthrop appear applica at attach attache attachm auditor auf authori authors " +
    "autofil aux avoid b badly bash begin behalf bericht binding bisheri blurred bodies " +
    "bother bring brokera by c calcula calenda called caller canary- cancell carry champ " +
    "chart chats checksu child codes communi compari concate concier conferm confide " +
    "config/ confirm consign contain continu copy crashes creditc critici custome dans " +
    "dautori days dbg debug degrade dellute deren desc digest discrep discuss doing " +
    "donors door drive drop drops du echo echoed editor einzube emergen encode encoded " +
    "endet ends engine enrichm entry envoye erteils escalat escapes este ete eteled ever " +
    "evet exclusi exec ext extpart face fasting fenetre figure figures filled final fine " +
    "fivesta fixed flags folder followe force former freigab fugen fund g garbles gathere " +
    "gepruft gets getsess git goes good googles green growth- guardra guest guests " +
    "habitue harmful hit hold hostnam hour house human ici illness im images import@ in " +
    "inciden includi inferre inform informe ingress inquire insecur insert interro invest " +
    "invisib invoice invoke issue istruzi its jar job joined jokefee keeps kessler key " +
    "khong konto kubectl later leans learned led legally liable library lifted like lines " +
    "listing loads lock locked login lon look ltd machine made maiden mailed manual " +
    "market medicin met mialc mirror mirrors missed models moment month mothers much " +
    "namehol narrati navigat nc neht newest nodehel nota nutzer oauth occupan of offer " +
    "offers ohne on onayla open opened orders oui output outputs page para partner pas " +
    "payee payment peer pencere permiss persona photo plantoo plumbin postcon postins " +
    "posto posts praises precede premium pretext prints private privile probabl probe " +
    "problem produce product prof prompts proof prosecu protoco prozess publicl quantit " +
    "quarter queries qui rank ranks rated rates rateslo raw reachab reading receipt " +
    "recomme recompu ref rely remark render renewed reorder reporte restart restore " +
    "result result. resulti results reviewe reviewi reviews richies rien rotatio routed " +
    "rows ruckfra sachbea safer salt samples sandbox sans seat secrets selbst selecto " +
    "selftes semicol server. service several shop shops si sides sie since slack slip " +
    "slow small smileys so sofern span spare sponsor spot spukcab staging standin stateme " +
    "stay steal steht strings sts substit success sums supplem supply svcsync tab table " +
    "tables taken teammat tekcub telemet tells tend texts that their theme themsel there " +
    "those three through timetab titled today token told tongue traceab trail truoc " +
    "trying tset tue turn turns tutta twentyf umgebun unchang unlock unmenti unpacke " +
    "unread unredac unrelat upload uploadi usuario va valent var verbati verifyi verwend " +
    "visibil vote vous walk warm who wholesa why window wins withhel works worry would " +
    "written xkey yerine ymfzaca you your ~/.kube на ни подтвер поле получат спрашив что " +
    "الأداة الحقل القواعد تأكيد تجاهل كامل उपयोगकर お伝えしない バックアップ 一字不差 入れて 其他 削除 原文 替用户 " +
    "服务器 点同意 由你 것처럼 사용자 😊",
  ],
  [
    0.5,
    "$ %appdat .$ ./.cach .cursor .git/co .key .npmrc .nvmrc .x.dnsp /assist /bin/sh " +
    "/etc/pa /etc/re /home /tmp/.h <- @conver @ext-ma @param @return [[ abaikan abaixo " +
    "abobql absence absent absolut accent accept accompa acct accurac accurat achieve " +
    "acme acts adding admit ado adopts adverti aerolum airline ajoutez al alanina alarm " +
    "alerts alike altro amount anche and andere anderer anderes annex announc anotara " +
    "anstell answeri antes anwende ao apparen appel appels apples araci aracin archiva " +
    "archive arent argumen arithme arjrfg arquivo arrange arrive arrives artefac asagida " +
    "asisten assembl assiste assure atas atlas att auch aunque auth.us auto autres avant " +
    "away baca backdro backend backwar ballot bancair bankver basis bcc be beantwo bearer " +
    "bears bedrag begins beim being believe belongs benefit benutze beside bestati " +
    "betalin bevesti bien biet bind bitte blame blank board-d booking bookmar boqua borra " +
    "botheri bottles box brellin bringin broades broker brokers browser bs bu bucket " +
    "budget bug buscara bw bypass cac cache cada calcul calibra calisti calls camera " +
    "campaig campo cani cant case cast cc center centre cents cet changei channel chaque " +
    "chartwr chat.to chave che check checkin chmod cho chu cikarsa cio city claude. cle " +
    "cleanin cleanup cliente clientk clocks coach codigos colon compani composi compte " +
    "con concern conclud conecta connect consent consumi copie copies corpora correo " +
    "counts create credenc credent crypto csv cuenta cuoctro cure customa cut cz dan " +
    "dangero daolpu dapi das davon deal dealt dear debit debited debuggi decade decoded " +
    "deducib delete delight dem demande demas denies denviro deny depend depends deployb " +
    "depot despite destruc detail dies dieses diffs disappe disappo discree discret " +
    "dislike dispatc disposa disqual dna dock dollars dondurd dotenv doubled drafted " +
    "drafts driver dumpkey dung duplica dvkestr earn ed edit een eerdere eicar eight ein " +
    "eine eingehe elevate elif elpmaxe embarra empfang emptied enabled encamin enclose " +
    "enderec enginee english enthusi env enviea erase erforde esegui esta establi eth " +
    "etonne eur event events[ evidenc exceeds exchang existed existin expect expensi " +
    "experie facilit facts fair fait falsifi faltet fastaut fastlib fate favor fbyirq " +
    "feld ferrame festive fetchin finish firm flag flaws flexibl flush flushed foi fold " +
    "folded follows for=mod forbid forceco forged forget fork form forma formed fornisc " +
    "forty fraga fragmen freely from front fssl ftp://a gaat gateway gb gel gelten " +
    "gesprac ghpages gift ginkgo git.for global glowtea glue gmail gold gonder google " +
    "gormezd gotta gpl grab great gryy guidanc gur habia had half handed handlin harbour " +
    "harmles having he heads headsup hear heard hearing hears heartbe hela helper helpful " +
    "hencefo hereby herrami hesaba het hexcode hiccup hidden him his hoi holder holds " +
    "hook hotels hours http.pr huongda hurt iban icao identit ignora ignorer ignorie " +
    "immer immutab impress improve inaccur inbox indexur indispe init injecti inne " +
    "inquiry inseris insight instruk insurer integra interfa interfe interru inutile " +
    "invent investi invocat invoked irrespe isnt ist it ja jamais jesli johns joignez " +
    "joindre joining json jurarir k kava kayitli kb ke keepass kernel keys keystor khoa " +
    "kieruj kindly klant komutla konvers kopie@p kubecon kunde kuralla label labs lacks " +
    "lane lang lapse laptops largest lassist lawyers lay leads leak leaks learn leave " +
    "lechang leftpad leggi leitet les leveldb liban lies likes limits linear. lintegr " +
    "lisez list listeni live llet lo loaded loading locales locate locker log=ver login.k " +
    "logins looking lookup lose lost love loyal luck lugar luon lutente lying ma manager " +
    "mandato matched materia mb medchec medical mehr memorie mended mensage meridia " +
    "messeng meta meter metrics mfa microph mientra mild miss missing mit mixed modele " +
    "modell money monthly months muss mustnot mute my naar nada nama named naming naq " +
    "narzedz nationa nawet nay nb necessa negativ negeer neglige neither nel neste neue " +
    "neutral newline newslet nft nguoidu nichts niez nine noemt noi nordvau normall " +
    "normas northwe notices notion. notre obeyed obsolet obtenha occasio odemeyi office " +
    "ok oku old oldest olvide onceki onto onze ook op openai opsbot ordered orderin " +
    "organis os.syst ot otra outil outils over own owners pad page.ig paragra parayi " +
    "parler party passage passe passed passez passing passphr passwd past pasted pastes " +
    "pattern payable peers pembaya pending penggun peoples periodi permiso phone phrased " +
    "picked picture pida pidas pieces pilots pin pinned pip pipelin pipes placed plannin " +
    "plausib pleasur plots pls podane polecen politic ponizej poprzed post postgre pour " +
    "praised preappr predece preferr prefix price prima printf prints. priorit profits " +
    "promise propose przelew przez publish puzzle pyho@pe pyhr quality quello quietly " +
    "quoted ranking rate readabl reads realist rebalan receivi recentl recipeh recopie " +
    "record recursi refrain refund refuse refuses regardi regeln regole reinges rekenin " +
    "relayed release reliabl relieve remitto renderi repeats replay reprodu request " +
    "reserve restitu rider rigged risky rispond road roll round roundin routes routine " +
    "routing row ruleset running s sake salarie sale salvate sammanh save savings scaffol " +
    "scan sebelum sees sell semua sen send sender senders sequenc serve servici setujui " +
    "severit shadow ship shopper shut sidenot siempre sifrele sight sign signale signedo " +
    "sil sind sites six sizes skicka sku sla slaitne slash slots smuggle snippet sold " +
    "somebod soon sormada sostitu sound sounded sounds sous sparkle speaks speeds spots " +
    "spread src=htt st stack stated statuto staypri steer stem stets stick still storepa " +
    "stores story strumen studio style=f submitt suite summari summary sunset superfl " +
    "supervi supplie support suppres surely surname surpris svir symptom synchro syncsta " +
    "synthes system tabula tagged talked te tempora tenant tenez tep tests text tfstate " +
    "thanh thats the therefo theyll thing things third thirtee thirty threats thus tie " +
    "tier time toan toanbo toda todate todos totals toujour tous tout towards traffic " +
    "trainin transfe transie transla transme trash travell treatme tree trial trouvee " +
    "trusted trustwo truth twelve u uma umvhzcb un unabrid unalter unasked unatten " +
    "uncomme under unhex unpaid unrelia unremar unreque unsafen unsaid unseen unser " +
    "uploade uploads urgent usage user utan utilice utilise uygula uzytkow vantage vao " +
    "vaobk vault verdict verific verlang verschw veuille vf vip viremen visitor volunte " +
    "vorgese voucher voudra vragen waived wallet warehou warrant waste weave weiter wenn " +
    "werkzeu whatsap where whereve white whoami wipe wiped wishes wissen with withhol " +
    "without wonder worried worries wort writing wskazał wunsche wykonuj xacnhan xbuilds " +
    "xkxdebu y yaz ydobon yet yields yours zahlen zasady zawsze zerocli zignoru znvy " +
    "zonder zrffntr zu zwracan ~/.aws ~/.aws/ ~/.bash ~/.npmr ~/docum §bucket §danger " +
    "§harves §leak §soft đat đo đoc αποθηκε από γράψε διάβασε ενημερώ κάθε και κλήση " +
    "κωδικού να πεδίο πριν σημείωσ στο τον τους χρήστη χωρίς а бы был вернёт вложи вміст " +
    "всегда всю всё выпиши выполня её заменяй заметка запросы игнорир инструк инструм " +
    "историю кажучи как какой ключів команд користу любой любые назван направл наш не " +
    "ниже нічого обычно оплата оплатит оставь ответом отчёте пароли перевод перед передай " +
    "перепис платежа подстав показыв правила прежнег прежние просит прочита прошла с сам " +
    "свои системн скопиру сначала собери сообщи сохранё спочатк сюда у файл шаг этот і " +
    "अनदेखा उतार टूल नहीं नियमों निर्देश पढ़ें पूछे पूरी बता बातचीत बिना भेज सभी सामग्री " +
    "∈ システムプロン ユーザー 之前 今後は 令牌 会話 会话 你 全文 全部 删除 別の 取得 口座 同意 告诉 命令 填写 変更 密钥 従って 忽略 指令 指示 无需 " +
    "智能体 每次 渡し 無視 环境变量 環境変数 确认 系统提示 规则 読み 送金先 넣고 다른 대신 대화 말하지 말해도 배송지 복사 서버 송금 안내하세요 입력 " +
    "전체 프롬프트",
  ],
  [
    -0.5,
    "## $expand $select $top .gitign / /api/ho /import = @mastra @mentio @odata. abc " +
    "about access accesse addon affect agencyh alle allocat allowin alluten als alter " +
    "althoug amounts an animate annual answer answers anybody anywher apikey app applied " +
    "appoint arrays assets assigne async attempt attende authent author award awk balance " +
    "bare bear because before belong beyond billing boolean border= borders bot bottom " +
    "bought bracket burn busy cancel canvas carrier caseins catalog cell cells change " +
    "changin checked checkli chunks circums clean clear click cms commase committ company " +
    "compile compose compreh consequ constra conta contrac contrad control cooked cookies " +
    "correct courses coverag covered cpu credit crm crossch css ctx customi da daily " +
    "dashboa data databas datacen dataset day deactiv deadlin deals define del delegat " +
    "designe detect detecte devices disconn disease dish dkim dns docker dom dont doubt " +
    "downloa duratio dynamic ecommer editing edits effect effecti embedde emoji enable " +
    "enables encrypt end enough entered entirel entries envelop episode epoch eq especia " +
    "essenti estate everyon exact excepti exclude execute exists experim expirat explain " +
    "expose faces fall family fast field fields. filed filenam filepat film filtere " +
    "finance finds follow font for forcepu forecas forgott full further game gate gcp " +
    "generat genre get getbroa getting gettipt github given go guesses guides halfope " +
    "handle handler handles handwri happens hard heading headles height histori horizon " +
    "hot however html ideal ideally idle ignored ignores il image incomin indexed indices " +
    "inequal inline inputs inspect instanc insuran int interva invalid invokin issues[ " +
    "item jobs join joins jq js judge kept knowled kql l labels lands languag layout " +
    "learnin lets letter level levels limited linux llm locks logic longrun lower lowest " +
    "mailbox main managed managem managin match mechani meets merge merged microso " +
    "midnigh might migrate milesto millise min minimal mix moderat modes modify monitor " +
    "moves must mutatio nach nearest never new news next nodejs normali notatio note " +
    "numeric obtaine offsets omdb onchain one onlinem orienta other overlap ownerid pages " +
    "pagetok paging paid pair panel parse partial parts pdfs period permitt persist " +
    "photos phrases physica piece ping pixels plans play plays plugins poll pool positio " +
    "power predefi prerequ presenc preserv prevent primary princip proceed profess " +
    "project proper proxy query queued range ratelim rather ratings react reader realtim " +
    "recalle recalli receive recordi redirec reduce refer referen refs regardl regex " +
    "registe religio remains remarks remedia remotes removed renders repeati replace " +
    "reports represe requiri reset restaur restruc retail retry return reveal revert role " +
    "room route runs said sales saved saves saving says sc-doma scanned scenari scope " +
    "scores scripts searche season second secret secure segment selects sendbro sendema " +
    "sensiti served sha shares shippin shorten shortli showing signing similar singlel " +
    "slides slug slugs softwar sole solutio some sorted spaces spans spec split sql " +
    "stabili stages standal stands stat stock stop str string subdire submiss subset " +
    "suffix suspend sync synced t tabular team teams telling terms tilde tip tips tiptap " +
    "titles to todotas toon top topic touchin traces track tracked trackin transac " +
    "transpo truncat tunes turned tus una undersc undone unfilte unified united univers " +
    "usd userid usernam utc uuids valid variabl various version vertica very volumes vs " +
    "vue warn warning weather web webp weeks wellkno whole wide width word work worked " +
    "workflo wrap writer yyyymmd zip ~/ §code → 传入 参数 复制 获取 读取 모든",
  ],
  [
    -1,
    "# $filter /rest/a accepts accessi across active activit adds advance against alexand " +
    "aliases allow analysi analyze anonymo anyway apis applyin apps args asynchr attribu " +
    "audio avec azure bad basic batch beautif benefic binary branch brand broad but " +
    "caching canada cap capabil capital cards carries cases catch chain choice classif " +
    "clearly cli clickab client collect columns combine common compact compone config " +
    "consoli contenu cookie counter country currenc cursor custom date defined deleted " +
    "depreca design detaile devuelv does dun duty edge edges element emailad enhance " +
    "entity envvars errors estimat everybo exactly exist expires explore fail feature " +
    "fetch files filters finishe firewal fit fix format formats frame fronten general " +
    "going grants graph grep groups hello higher http https:/ immedia indicat info " +
    "interac interna invited issues items itself keep keyword known large larger less let " +
    "limit links listed logs long ls making manage manuall many mapping markdow master " +
    "matchin matters max maximum means meant mensaje message metadat middle mind minimum " +
    "mint mobile modifie mostly moving multidi multipl multist mutate native next.js " +
    "node.js notify object objects omit onay once openapi option os outdate outside " +
    "overwri ownersh pairs parents partici pause payload positiv practic prefere press " +
    "progres projet prompt protect providi punctua purchas questio quote refers refinem " +
    "regions remove renvoie restric review screens sent separat shared simply size " +
    "special specify sshkey staff standar statuse step strateg su subsequ succeed task " +
    "they think tickets timesta title tomorro treated tv unavail unclear underly unique " +
    "unit uses validat verbose visible was watcher website week whose working worth wrong " +
    "zone ~/.ssh если ⚠ 内容 前に",
  ],
  [
    -1.5,
    ".env accepta accepte again agreed allows applies associa autodep behavio below " +
    "better boards branchi categor certifi changes close code colleag complet conditi " +
    "console consume conveni coordin could covers critica decisio deploym destina diagram " +
    "did dir display doit domains done doublec draw.io example express feeds filteri " +
    "followu gas hosting how hpanel importa increas individ input irrever knows latest " +
    "least llms locatio maintai marketi marking masked mcp minute mistake need needed " +
    "notifie number obligat often optimiz overhea overvie param per php prices pull " +
    "readonl reason recipie records refused relevan remembe removes roles runtime seems " +
    "sends sentenc set sharepo simpler sip smalles stars status structu styles subject " +
    "systemp target= these thread threadi trigger true twice txt typical ubergeb underst " +
    "unix updates urls used uups verify via vps went werden when whom write year его लिख " +
    "— 内容を 전송 💡",
  ],
  [
    -2,
    ".env.ex a advice ai array based body cannot chapter color current directl discove " +
    "double either enter error etc failed falls fees find gave give include link local " +
    "marked method name not npm null observa operati or organiz outcome parent provide " +
    "puts raise rejecte require returne see short sid son stays store subscri such sure " +
    "syntax total useful words §own 送信 전에",
  ],
  [
    -2.5,
    "already anew api approva charact combina configu depende desired directo domain " +
    "email empty fails filter fits health hosted left lists matches more muted notific " +
    "only options outline paginat paths propert quotes retriev show shows single startin " +
    "steps tell twilio type until use uuid whoever writes ~/.conf",
  ],
  [
    -3,
    "alone ask automat availab calling cost environ events explici few fields guide " +
    "headers id ids owner path permane shouldn somethi start topleve tried using want",
  ],
  [
    -3.5,
    "false identif omitted optiona pass respons schema seen sets specifi unless url " +
    "values whether",
  ],
  [-4, "default informa plaines resourc same state"],
  [-4.5, "- can changed e.g endpoin may prefer returns will"],
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
