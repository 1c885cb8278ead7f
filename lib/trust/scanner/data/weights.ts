/**
 * Written by bench/scanner/train.ts, see docs/adr/0012. Points of the phrases of
 * each sign, in their order, and how much a word speaks
 * for an order to a model (above zero) or for plain documentation (below); of words the beginnings,
 * seven letters at most. No word is telling by itself: a sentence is judged by all of them, and only
 * where it has signs as well.
 */
export const POINTS: ReadonlyMap<string, string> = new Map([
  ["act", "1 1 1 2.5"],
  ["address", "2 2 2.5"],
  ["against", "1.5 1.5 1.5 1.5 1.5 2 2 1.5 1.5 1.5 1.5 2.5 1.5 2 2 1.5 2.5 1.5 1.5 1.5"],
  ["agent-does", "3 2 3 3"],
  ["asked", "2 2 2 2"],
  ["asked-in-parameter", "1.5"],
  ["calls", "1.5 0.5 2.5"],
  ["cipher", "1 1 1 1 1 2 2 1 1"],
  ["collects", "2.5 1.5 3 2 2 2 2"],
  ["confided", "1.5 1.5 1.5 1.5 1.5 1.5 1.5 2 2 1.5 1.5 1.5"],
  [
    "context",
    "1.5 1.5 1.5 1 1.5 1 1.5 1.5 1 1.5 2 0.5 1 2 1.5 1 1.5 1.5 1.5 1.5 1.5 1 1.5 1 1.5 1 1.5 1 1.5 1 1.5 1 1.5 1.5 2 1 3.5 3 3 1.5 1.5 0.5 1 0.5 1.5 1 2 1 1 1.5 1.5 1.5 1",
  ],
  ["danger", "1 1 1 1 1 1 1 1 1 1 1.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2 1 1.5 1"],
  ["deed", "1.5 1.5 1.5 1.5 1 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1 1.5"],
  ["displace", "0.5 0.5 0.5 0.5 1 1 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 2.5 0.5 0.5 0.5 0.5"],
  ["divert", "1 1 1 1 1 1 1 1 1 1 1.5 1 1 2 1 1 1 3 1 1 1 1 1 1 1.5 1.5 1 1.5 1 1 1 1.5"],
  ["elsewhere", "2 2.5 4 3.5 2 3 2 2 2.5 2 1.5 2 3 2 1.5 2 3.5 1 2.5 1.5 2"],
  ["exclusive", "1 0.5 1 0.5 0.5 0.5 0.5 0.5 1.5"],
  ["excuse", "1.5 1.5 1.5 1 1 1.5 1.5 1.5 1.5 1.5 1.5 1.5"],
  ["exposure", "1.5 1.5 1.5 2.5 2 1.5 1.5 1.5 2 2 2 1.5 1.5"],
  ["extra", "2 1.5 1.5 2"],
  ["grab", "1.5 1.5 1.5 1.5 1.5 2 1.5 2 3.5 1.5 2 2 1.5 2 1.5 2"],
  ["hand-over", "1 1.5 1 2.5 1.5 1.5 0.5 0 2 1"],
  [
    "hide",
    "1 1 2 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1.5 1 1 1 1 1 1 1 1 1 1 1.5 1.5 1 1 1 1 1 2 1 1 1 1 1 1 1 1 1.5 1",
  ],
  ["in-the-name", "1.5 1.5 1.5 1 1.5 1.5 1.5 1.5 1.5"],
  ["kept-off", "1 1 1 1 1.5 1 1 1 1 1 1 1.5 1 2 1"],
  ["lasting", "1 1 1 1 1"],
  [
    "lie",
    "0.5 1 1 1 2 1 1.5 1 1 0.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
  ],
  ["lifted", "2 2 2 2 2 1.5 1.5 2 4 2.5 2 2 2 1.5 2 2 2 2"],
  [
    "machine",
    "1.5 1.5 1 1.5 2 1.5 2 1.5 1.5 1.5 1.5 1.5 1.5 2.5 1.5 1.5 1.5 1.5 1.5 2.5 1.5 3.5 2.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5",
  ],
  ["model", "0.5 0.5 0 0.5 0 0.5"],
  ["money", "1"],
  ["obey", "1 1.5 1 1.5 1 1 1.5 1.5 1.5 1 1.5 1 1 1"],
  ["order", "1.5 1.5 1 1.5 1.5 1.5 1 0 1.5 0.5"],
  ["others-calls", "2 6 0.5 2 2"],
  ["p-agent", "3 3 3 3.5"],
  ["p-context", "4.5 5 4 4.5 4 4 4.5 3.5"],
  ["p-machine", "2.5 2 0.5 3 1.5 1.5 2 1.5 1.5 1.5"],
  ["p-person", "2 2 2 2.5 3.5 2 2 4 2 2.5 2.5 2 2"],
  ["p-secret", "1.5 1 1 1.5 1.5 0.5 1"],
  ["p-source", "1 1.5 2 1 1.5"],
  ["people", "0"],
  ["personal", "1 2.5 2 2 2.5 2.5 2.5 2"],
  ["phish", "1 1 1 1"],
  ["plant", "2 2 1.5 2 2 2"],
  ["posed", "1.5 1.5 2 1.5 1.5 1.5 1 1.5 2 1.5 1.5 1 1.5 1.5 1.5"],
  ["praise", "2 1 1 1.5 1 2 1 1"],
  ["promote", "1.5 1.5 1.5 1.5 1.5 1.5 2.5 1.5 1.5 1.5 1.5"],
  ["quiet", "1.5 1.5 1 1.5 1 1.5 1.5 1.5 1 1 1 1.5 4.5 2 1.5 1"],
  ["rarely", "1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5"],
  ["reply", "1 3.5 1 0.5"],
  ["report-as", "1 1.5 1.5 1.5 0.5 1.5 1 1"],
  ["reshape", "1.5 0.5 0.5 0.5 1.5 0.5 0.5"],
  ["rewire", "0.5 0.5 0.5 0.5 0.5 0.5 0.5"],
  ["role", "1 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 1 0.5 0.5 0.5 0.5 0.5 0.5"],
  ["secret", "1 1.5 2 1 1 1 1 0.5 0.5 1.5 1 5 1 1 1.5 1"],
  ["shun", "2 2 2 2 2 2 3 2 2.5 2 2 2 1.5 2 2 2"],
  ["slot", "1.5 3"],
  ["taken-as", "1.5 2 1 1.5 2"],
  ["talk", "1.5 2.5 1.5 2.5 1.5 1.5 1.5 1.5 1.5 1.5 2.5 1.5"],
  ["trigger", "1 0.5 0.5 0.5 0 0.5 0.5 0.5 0.5 0.5 0 0 0 1 0.5 0.5 0.5 1.5"],
  ["unaltered", "2 1.5 1.5 1 1 1.5"],
  [
    "unasked",
    "1 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 2 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 2 1.5 2.5 2.5 1.5 1.5 1 1.5 1 1.5 1 1.5 1 1.5 1.5 1 1.5 1.5",
  ],
  ["voice", "0.5 0.5 0.5 1 0.5 0.5 0.5 1"],
  ["whole", "2 0"],
]);

/** What a tool does is said first, orders come later; and some places are none for sentences. */
export const PLACES = { later: 1, aside: 3, odd: 3, parameter: -2 };

const BY_WEIGHT: readonly (readonly [number, string])[] = [
  [
    4.5,
    "assista behind chat develop extra home makes me operato our ours overrid servers " +
    "session thought trace vendor whateve §email §hard",
  ],
  [4, "alterna anythin here hex intent officia person ssh transcr"],
  [
    3.5,
    "& act append asked bg booked de goal just la models pem persons policy respond safe " +
    "shell ultimat wheneve workspa рaypal",
  ],
  [
    3,
    "adminis agent along always bar card crashed diagnos every everyti export forward " +
    "grant guideli hints host memo neednot needs off out passwor please pretend safety " +
    "ten termina too wants webhook wonders §dotfil §foreig §host §number §server 利用者",
  ],
  [
    2.5,
    "above account afterwa agents ascii autoapp been botheri bundle charge context " +
    "convers d deletio dialogu die disk disrega down dump each everyth five hand hexadec " +
    "http:// instruc last le leading legal line mbox nobody obeys others part paste plan " +
    "printen put reasoni relay report say signatu skip someone sources stripe submit " +
    "switch tool tracing treat twofact users waterma yoursel §act 必ず 도구",
  ],
  [
    2,
    "+ ads any anyone apply approve as asc asks backups bank best book breaks chainof " +
    "cheaper choosin cluster cmd come comes coming command comply decline definit des " +
    "descrip di dialog directi do elsewhe employe en entire even expiry four fuller gap " +
    "gh holding househo ignore kestrel letters logged mails meet module moved noticed " +
    "obey otherwi patient percent pick place prefera print prior profile que quiet " +
    "readers reasons recap recover refresh region reposit rest rights rule run script " +
    "selecte setup sh shall shortes shown site spoken strippe suggest switche take talk " +
    "tap test therefo though ticket travel typed und up urldeco us vale whichev while yes " +
    "§cmd §qualif §tool §url в и ツール 收款 账户 转账 계좌 바꾸 항상",
  ],
  [
    1.5,
    "$home able add address agree anonymi apikeys aside asking audit auth aws back " +
    "backgro backup between block board boost bootstr builtin caller callers carried " +
    "choose chooses ci closed closing column comment compare competi conflic connect " +
    "convhis copia core.ho crash crashlo decode deep den der derived desktop differe " +
    "direct disable discard docs documen door dropped e earlier eht encode et externa " +
    "fare fee feed figure finding formali fortnig fresh fromnow fully garbles goahead " +
    "hartley have hence hide hint homedir hr i interpr jira know las learns legitim lives " +
    "locale log made mark matter memory mirrore mood na ne nicht no nor notice offset " +
    "ones onetime operate order origina ought outofof outrank package palette phrase " +
    "pixelki plumber plus preambl present printed process prod prove public rank rarely " +
    "real recorde refunds refusal remote reply reponde rereads resigne saying se securit " +
    "seed seem select server. service share should signed slows smooth sons speak straigh " +
    "success sudo superse testing togethe tone try twenty unpacks urlenco usual ve we " +
    "wish wording you ~/.ssh/ счёт مستخدم 不要 他の 代わって 对话 工具 所有 承認 用户 무시 받는 지침",
  ],
  [
    1,
    "% -- .dessap .ssh /etc/sh /tmp/.t <!-- acilirs admin all among another answere " +
    "anterio anthrop appear arrives at attach attache attachm auditor auf authori authors " +
    "aux avoid away b badly bash begin bericht bisheri bodies bother brokera brokers by c " +
    "calenda called canary- cancell carry champ chart chats checksu child codes communi " +
    "compari compute concate concier conferm confide config/ consent continu copy crashes " +
    "custome dans dautori dbg debug debuggi dellute deren desc digest discrep discuss " +
    "doing drive drop drops du echo echoed eight einzube emergen encoded endet ends " +
    "engine enrichm entry envoye erteils escalat escapes este ete eteled ever evet " +
    "exclusi exec ext extpart fenetre figures filled final fine fivesta fixed flags " +
    "folder force form former found freigab fugen fund gathere gepruft gets git goes good " +
    "googles green growth- guardra guest habitue harmful headsup hexcode hit hold hostnam " +
    "hour house human ici illness im images improve in inciden includi inferre inform " +
    "informe ingress inquire insecur insert interro into invest invoke istruzi it its jar " +
    "job joined jokefee keeps kessler key khong konto later leans learned led legally " +
    "liable library lifted like lines list listing loads lock locked login lon ltd " +
    "machine maiden mailed manual market medicin mention met mialc mirror mirrors missed " +
    "moment month mothers much namehol navigat nc neht newest newline nine nota notion " +
    "nutzer oauth occupan of offer offers ohne on onayla open opened opens orders oui " +
    "outputs page para paragra partner pas passed passpor pattern payee payment pencere " +
    "persona photo placed plantoo postcon postins posto posts praises precede premium " +
    "pretext prints private privile probabl probe problem produce product prof proof " +
    "prosecu protoco prozess publicl quantit quarter queries qui raises ranks rated rates " +
    "rateslo raw reachab reading receipt recomme recompu ref rely remark renewed reorder " +
    "reporte reserva restart restore result result. results reviewe reviews richies rien " +
    "rotatio routed rows ruckfra sachbea safer salt samples sandbox sans seat secrets " +
    "selbst selecto selftes semicol several shop shops si side sides sie slack slip slow " +
    "small smileys smuggle sofern span spare spot spukcab staging standin stateme stay " +
    "steal steht strings substit supplem supply svcsync swap tab tables tailor taken " +
    "teammat tekcub telemet tells tend texts that theme themsel there those three through " +
    "timetab today token told tongue tools traceab trail truoc trusted trustwo trying " +
    "tset tue turn turns tutta twentyf umgebun unchang unlock unmenti unpacke unread " +
    "unredac unrelat upload uploadi usuario va valent var verbati verifie verifyi verwend " +
    "visibil vote vous warm white who wholesa why window wins withhel without works worry " +
    "would written xkey yearly yerine ymfzaca your на ни подтвер поле получат спрашив что " +
    "الأداة الحقل القواعد تأكيد تجاهل كامل उपयोगकर お伝えしない すべて バックアップ 一字不差 入れて 其他 削除 原文 " +
    "替用户 服务器 点同意 由你 것처럼 사용자 😊",
  ],
  [
    0.5,
    "$ %appdat .$ ./.cach .cursor .git/co .key .npmrc .nvmrc .x.dnsp /assist /bin/sh " +
    "/etc/pa /etc/re /home /tmp/.h <- @conver @ext-ma [[ abaikan abaixo abobql absence " +
    "absent absolut accent accept accompa acct accurac accurat achieve acme acts admit " +
    "ado adopts adverti aerolum airline ajoutez al alanina alarm alerts altro amount " +
    "analyti anche and andere anderer anderes annex announc anotara anstell answeri antes " +
    "anwende ao apparen appel appels apples applica araci aracin archive arent argumen " +
    "arithme arjrfg arquivo arrange arrive artefac asagida asisten assembl assiste assure " +
    "atas atlas att auch aunque auth.us auto autofil autres avant baca backdro backend " +
    "backwar bancair bankver basis bcc beantwo bearer bears bedrag begins behalf beim " +
    "being believe belongs benefit benutze bestati betalin bevesti bien biet bind binding " +
    "bitte blame blank blurred board-d booking bookmar boqua borra bottles box brellin " +
    "bring bringin brings broades broker brought browser bs bu bucket budget bug built " +
    "buscara bw bypass cac cache cada calcul calcula calibra calisti calls camera campaig " +
    "campo cant case cast cat cc center centre cents cet changei channel chaque chartwr " +
    "chat.to chave che check checkin chmod cho chu cikarsa cio city claude. cle cleanin " +
    "cleanup cliente clientk clocks coach codigos colon compani composi compres compte " +
    "con concern conclud conecta confirm consign consumi contain copie copies corpora " +
    "correo counts create credenc creditc critici crypto csv cuenta cuoctro cure customa " +
    "cut cz dan dangero daolpu dapi das davon days deal dealt debit debited decade decile " +
    "decoded deducib degrade delight dem demande demas denies denviro deny depend depends " +
    "deployb depot despite despues destruc detail dies dieses diffs disappe disappo " +
    "discree discret dislike disposa disqual dna dock dollars dondurd donors dotenv " +
    "doubled drafts driver dumpkey dung dvkestr earn ed edit editor een eerdere eicar ein " +
    "eine eingehe elevate elif elpmaxe embarra empfang emptied enabled encamin enclose " +
    "enderec ending enginee english enthusi env enviea erase erforde esegui esta eth " +
    "etonne eur evaluat event events[ evidenc exceeds existed existin expect expensi " +
    "experie face facilit facts fair fait falsifi faltet fastaut fasting fastlib fate " +
    "favor fbyirq feld ferrame festive fetchin finish firm flag flexibl flush flushed foi " +
    "fold folded followe follows for=mod forbid forceco forged forget fork forma formed " +
    "fornisc forty fraga fragmen from front fssl ftp://a fulfill fwd g gaat gateway " +
    "gather gb gel gelten gesprac ghpages gift ginkgo git.for global glowtea glue gmail " +
    "go gold gonder google gormezd gotta gpl grab great group gryy guests guidanc gur " +
    "habia half handed handlin harbour harmles having he heads hear heard hearing hears " +
    "heartbe hela hello helper helpful hencefo hereby herrami hesaba het hiccup hidden " +
    "him his hoi holder holds hook hosts hotels http.pr humans huongda hurt iban icao " +
    "identit ignora ignorer ignorie immer immutab import@ impress inaccur inbox indexur " +
    "indispe init inne inquiry inseris insight instruk insurer interfa interfe interru " +
    "inutile invent investi invisib invocat invoice invoked irrespe isnt ist ja jamais " +
    "jesli johns joignez joindre joining json jurarir k kava kayitli kb ke keepass kernel " +
    "keychai keys keystor khoa kieruj kindly klant komutla konvers kopie@p kubecon " +
    "kubectl kunde kuralla label labs lacks lakes lane lang laptops lassist lawyers leads " +
    "leak leaks learn leave leaves lechang leggi leitet les leveldb liban lies likes " +
    "limits linear. lintegr lisez listeni live llet lo loaded loading locate locker " +
    "log=ver loggedi login.k logins look looking lookup lose lost love loyal luck lugar " +
    "luon lutente lying ma manager mandato matched materia mb medchec mehr memorie mended " +
    "mensage meridia messeng meta meter metrics mfa microph mientra mild miss missing mit " +
    "mixed model modele modell money monthly months muss mustnot mute n naar nada nama " +
    "named naming naq narrati narzedz nationa nawet nay nb necessa negativ negeer neglige " +
    "neither nel neste neutral newslet nft nguoidu nichts niez nodehel noemt noi nordvau " +
    "normall normas northwe notices notion. notre obeyed obsolet obtenha occasio odemeyi " +
    "office ok oku old oldest olvide onceki onze ook op opsbot ordered orderin origin " +
    "os.syst ot otra outil outils output over overall owners pad page.ig panic parayi " +
    "parler party passage passez passing passphr passwd past pasted pastes payable pbx " +
    "peer peers pembaya penggun peoples periodi permiso permiss phone phrased picked " +
    "picture pida pidas pilots pin pinned pip pipelin pipes plannin plausib pleasur plots " +
    "pls plumbin podane points polecen politic ponizej poprzed post postgre pour praised " +
    "preappr preferr prefix previou price prima printf prints. priorit promise prompts " +
    "properl propose przelew przez publish pyho@pe pyhr quality quello quietly quoted " +
    "rate readabl realist rebalan recall recent recentl recipeh recopie record recursi " +
    "refrain refund refuse refuses regardi regeln regole reinges rekenin release reliabl " +
    "relieve remitto render renderi repeats replay reprodu request reserve restitu " +
    "resulti reviewi rider rigged right risky rispond road root round roundin routes " +
    "routine routing row ruleset running s sake salarie sale salvate sammanh save savings " +
    "scaffol scan sebelum second sees sell semua sen sender senders sequenc serve server " +
    "servici setujui severit shadow ship shopper shut sidenot siempre sifrele sight sign " +
    "signale signedo sil silence since sind sites six sizes skicka sku sla slaitne slash " +
    "slots snippet so sold somebod soon sormada sostitu sound sounded sounds sous sparkle " +
    "speaks speeds sponsor spots spread src=htt st stack stated statuto staypri steer " +
    "stem stets stick still stores story strumen studio style=f submitt suite summari " +
    "summary sums sunset superfl supervi supplie support suppres surely surname surpris " +
    "svir symptom synchro syncsta synthes system table tabula tagged talked te technic " +
    "tempora tenant tenez tep text tfstate thanh thats the their them theyll thing things " +
    "third thirtee thirty threats thus tier time titled toan toanbo toda todate todos " +
    "totals toujour tous tout towards traffic trainin transfe transie transla transme " +
    "trash travell treatme tree trial trouvee truth twelve u uma umvhzcb un unabrid " +
    "unalter unasked unatten uncomme uncondi under unhex unlatch unsafen unsaid unseen " +
    "unser uploade uploads urgent user utan utilice utilise uygula uzytkow vanish vantage " +
    "vao vaobk vault verdict verlang verschw veuille vf vip viremen visitor volunte " +
    "vorgese voucher voudra vragen waived walk wallet warehou warrant waste weave weiter " +
    "wenn werkzeu what whatsap where whereve whoami wipe wiped wishes wissen with withhol " +
    "wonder working worried worries wort writing wskazał wunsche wykonuj xacnhan xbuilds " +
    "xkxdebu y yaz ydobon yet yields yours zasady zawsze zerocli zignoru znvy zonder " +
    "zrffntr zu zwracan ~/.aws ~/.aws/ ~/.bash ~/.kube ~/.npmr ~/docum §bucket §danger " +
    "§harves §leak §soft đat đo đoc αποθηκε από γράψε διάβασε ενημερώ κάθε και κλήση " +
    "κωδικού να πεδίο πριν σημείωσ στο τον τους χρήστη χωρίς а бы был вернёт вложи вміст " +
    "всю всё выпиши выполня её заметка запросы игнорир инструк инструм историю кажучи как " +
    "какой ключів команд користу любой любые назван направл наш не ниже нічого обычно " +
    "оплата оплатит оставь ответом отчёте пароли перевод перед передай перепис подстав " +
    "показыв правила прежде прежнег прежние просит прочита прошла с сам свои системн " +
    "скопиру сначала собери сообщи сохранё спочатк сюда у файл чем шаг этот і अनदेखा उतार " +
    "टूल नहीं नियमों निर्देश पढ़ें पूछे पूरी बता बातचीत बिना भेज सभी सामग्री ∈ システムプロン 之前 " +
    "今後は 令牌 会話 会话 你 全文 全部 删除 別の 取得 口座 同意 告诉 命令 填写 変更 密钥 従って 忽略 指令 指示 无需 智能体 每次 渡し 無視 环境变量 " +
    "環境変数 确认 系统提示 规则 読み 送金先 넣고 다른 대신 대화 말하지 말해도 배송지 복사 서버 송금 안내하세요 입력 전체 프롬프트",
  ],
  [
    -0.5,
    "## $expand $top .gitign .jsonl / /api/ho /import = @mastra @mentio @odata. abc about " +
    "access accesse addon affect agencyh alle allocat allowin alluten als alter althoug " +
    "amounts animate annual answer answers anybody anywher apikey app appears applied " +
    "appoint apps arrays assets assigne async attempt audienc authent author award awk " +
    "bare bear because before belong benefic beyond billing boolean border= borders bot " +
    "bottom bought bracket busy cancel canvas cards carrier caseins catalog cell cells " +
    "change checked checkli chunks circums clean clear click client closes cms com " +
    "commase committ compile compose compreh consequ constra conta content contrac " +
    "contrad control cooked correct courses coverag covered cpu credent credit crm css " +
    "ctx da daily dashboa data databas datacen dataset day deadlin deals define del " +
    "delegat departm design detecte determi devices dial disconn disease dish dkim dns " +
    "docker dom doubt downloa duratio during dynamic ecommer editing edits effect el " +
    "embedde emoji enable enables encrypt end enormou entered entirel entries envelop " +
    "episode epoch eq especia essenti estimat ex excepti execute experim expirat explain " +
    "expose faces fall family fast feature field fields. filed filenam filepat files film " +
    "filtere finance finds finishe follow font for forcepu forecas forgott frame full " +
    "further game gate gcp generat get getbroa getting gettipt given going guesses guides " +
    "halfope handle handler handles handwri happens hard has heading headles height " +
    "helping heres hesitat histori horizon hot hourly however html ideal ideally idle " +
    "ignored ignores il image img incomin indexed indices inequal info inline inputs " +
    "inside inspect instanc insuran int interna interva invokin ios ipacces issues " +
    "issues[ item jobs join joins jq js judge kept knowled kql l labels lands layout lets " +
    "letter level levels limited linux llm locks logging logic longrun looks lower lowest " +
    "mailbox main managed managem managin manuall many match meets merge merged microso " +
    "midnigh might migrate milesto millise min minimal mix moderat modes modify monitor " +
    "moves must mutatio nach narrow nearest never new news next node nodejs normali " +
    "notatio note numeric o obtaine offsets omdb onchain one onlinem option orienta other " +
    "outside ownerid pages pagetok paging pair panel parents parse parts pdfs people " +
    "permitt persist photos phrases physica piece ping pixels plans play plays poll pool " +
    "positio power predefi prerequ presenc preserv primary princip project proper proxy " +
    "query queued range ratelim rather ratings react reader realtim recalle recalli " +
    "receive recordi redirec reduce refer referen refers refs regardl regex registe " +
    "religio remains remarks reminde remotes remove removed repeati replace reports " +
    "represe requiri reset restaur restruc retry return reveal revert role room roundtr " +
    "route runs said sales saved saves saving sc-doma scanned scenari scope scripts " +
    "searche season secret secure segment selects sendbro sendema sensiti served sha " +
    "shares shippin shorten shortli signing similar singlel slides slug slugs smtp " +
    "softwar sole solutio some sorted source spaces spacing spans spec split sql stabili " +
    "stages standal stands stat stead stock storage str streams string subdire subset " +
    "suffix suspend sync synced t tabular takes targete tasks team telling tighten tilde " +
    "timeout tip tips tiptap titles tlds to todotas toon top topic touchin traces track " +
    "tracked trackin transac transpo travels truncat tunes tus two una unassig unavail " +
    "undersc undone unfilte unified united univers usd userid usernam utc uuids valid " +
    "value variabl various version vertica very volumes vs vue warn warning weather web " +
    "webp well wellkno which whole wide width worked wrap writer yyyymmd zip ~/ → 传入 参数 " +
    "复制 获取 读取 모든",
  ],
  [
    -1,
    "# $filter /rest/a accepts accessi across active activit adds advance against alexand " +
    "aliases an analysi analyze anonymo anyway apis applyin args audio avec azure bad " +
    "balance basic batch beautif binary boards branch brand broad burn but caching canada " +
    "cap capital carries cases catch choice classif clearly cli clickab collect columns " +
    "combine common compact company compone config console consoli contenu cookie cookies " +
    "counter crossch currenc cursor custom customi date defined deleted depreca devuelv " +
    "display does dun duty edge edges effecti element emailad enhance entity envvars " +
    "errors everybo exclude exist exists expires explore fail filters firewal fit fix " +
    "format formats fronten general grants graph grep higher http https:/ immedia indicat " +
    "interac invited items itself keep keyword known large less let limit links listed " +
    "logs long ls manage mapping markdow master matchin matters max maximum means meant " +
    "mechani mensaje message metadat mind minimum mint modifie moving multidi multipl " +
    "multist mutate native next.js node.js notify object omit onay once openapi optimiz " +
    "os outdate overwri ownersh pairs partial partici pause payload plugins positiv " +
    "practic prefere press progres projet prompt protect providi pull punctua purchas " +
    "questio quote refinem refused regions remedia removes renvoie restric review says " +
    "screens sent separat shared sharepo shows sip size special specify sshkey staff " +
    "standar statuse step strateg su subsequ succeed target= terms they think tickets " +
    "timesta title tomorro treated unclear underly unique unit updates validat verbose " +
    "visible watcher website week weeks whose workflo worth year zone ~/.ssh если ⚠ 内容 前に",
  ],
  [
    -1.5,
    ".env accepta accepte again agreed allow allows applies associa asynchr attribu " +
    "autodep below better branchi capabil categor certifi chain close code colleag " +
    "complet conditi consume conveni coordin could country covers critica decisio deploym " +
    "destina detaile diagram did dir directl doit domains done double doublec draw.io " +
    "exactly example express feeds fetch filteri followu gas groups hosting how hpanel " +
    "importa increas individ input irrever knows larger latest least llms locatio making " +
    "marketi marking masked mcp middle minute mistake mobile mostly need needed notifie " +
    "number objects obligat often overhea overvie param parent per php prices proceed " +
    "provide readonl reason recipie records rejecte relevan remembe roles runtime see " +
    "seems sends simpler simply smalles son stars status structu styles subject systemp " +
    "task thread threadi trigger true tv twice txt typical ubergeb underst unix urls used " +
    "uses uups verify via vps was went werden when whom write wrong его लिख — 内容を 전송 💡",
  ],
  [
    -2,
    ".env.ex a advice ai array based body cannot changes chapter color current desired " +
    "discove either enter error etc failed falls fees find gave give include link local " +
    "maintai marked method more name not npm null observa operati or organiz outcome puts " +
    "raise require retriev returne set short sid stays store subscri such syntax total " +
    "twilio useful words §own 送信 전에",
  ],
  [
    -2.5,
    "alone already anew api approva ask availab behavio charact combina depende email " +
    "empty filter fits health hosted left lists matches muted notific options outline " +
    "paginat paths propert quotes show single startin steps sure tell type until use uuid " +
    "whether whoever ~/.conf",
  ],
  [
    -3,
    "automat calling configu cost directo domain environ explici fails few fields guide " +
    "headers id identif ids omitted only owner path permane shouldn somethi start topleve " +
    "tried want writes",
  ],
  [-3.5, "can events false may optiona pass schema seen sets specifi unless url using values"],
  [-4, "default informa plaines resourc respons same state"],
  [-4.5, "- changed e.g endpoin prefer returns will"],
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
