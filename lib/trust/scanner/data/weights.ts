/**
 * Written by bench/scanner/train.ts, see docs/adr/0012. Points of the phrases of
 * each sign, in their order, and how much a word speaks
 * for an order to a model (above zero) or for plain documentation (below); of words the beginnings,
 * seven letters at most. No word is telling by itself: a sentence is judged by all of them, and only
 * where it has signs as well.
 */
export const POINTS: ReadonlyMap<string, string> = new Map([
  ["act", "1 1 0.5 4.5"],
  ["address", "1.5 3"],
  ["against", "1.5 1 1.5 2 2.5 2 1.5 1 3 2 1.5 1 2.5 1.5"],
  ["agent-does", "2.5 1.5 1 2.5"],
  ["asked", "2.5 1.5 0.5 1.5"],
  ["asked-in-parameter", "1"],
  ["calls", "0.5 2.5"],
  ["cipher", "0.5 3 3"],
  ["collects", "3 1 3.5 1.5 1.5 1.5 1.5"],
  ["confided", "1 1.5 1.5 1 1 2.5 2 3 2.5 1 1 1"],
  [
    "context",
    "1 1.5 0.5 0.5 1.5 1 1.5 3 3 1 1.5 0.5 2 2 1.5 1 2 2.5 2.5 1.5 1.5 3.5 4 3.5 4 1 2 1.5 1.5 1 1.5 1",
  ],
  ["danger", "1.5 1.5 1 1 1.5 1 1 2.5 1 1 0.5 3 2.5 1.5"],
  ["deed", "1 1 1 1 1 0.5 2 1.5 2 1 1.5 2 0.5 0.5"],
  ["displace", "1.5 4.5 1"],
  ["divert", "0.5 1.5 1 1.5 2.5 1 3.5 0.5 3.5 1 1 1.5 1.5 1 1.5 1.5 1.5 2"],
  ["elsewhere", "1 3 4.5 4 1 2 2 1.5 2 1.5 1.5 3.5 1.5 1.5 3.5 0.5 2.5 1.5"],
  ["exclusive", "1 1.5 0.5 0.5 3.5"],
  ["excuse", "1 1.5 2 0 0.5 1.5 0.5 1 2.5 3.5 1 2"],
  ["exposure", "1.5 1.5 1.5 2.5 2.5 0.5 0.5 1.5 2 2 3 1 1.5"],
  ["extra", "1 2"],
  ["grab", "0.5 1 0.5 1 1.5 1 1 2 4 1 2 3 1.5 1.5 1 2"],
  ["hand-over", "1 3 1 1 1.5"],
  ["hide", "2.5 1 0.5 1.5 1 1 2.5 1 1.5 1.5 1.5 1.5 1.5 1.5 1 1 1 3.5 1 1 1 1.5 1 1 2.5"],
  ["in-the-name", "1 2 1.5 0 1 1 1 1.5 1"],
  ["kept-off", "1 1.5 0.5 1.5 1.5 1.5 1 0.5 1 1 0.5 1.5 0.5 2.5 1"],
  ["lasting", "1 0.5 0.5 1"],
  ["lie", "0 1 2.5 2 3.5 1 2 1 2.5 1 2.5 1.5 1 1 1.5 2"],
  ["lifted", "3.5 3 2 1.5 6.5 4 2 3 2.5 1 2 1"],
  ["machine", "1.5 2 2.5 2.5 1 1.5 2 2 3 0.5 1.5 3 3.5 2.5 2.5 1.5 1.5 2.5 1 0.5"],
  ["money", "0.5"],
  ["obey", "2 0.5 0.5 1 1 2.5 1 2.5"],
  ["order", "1.5 2.5 1 1"],
  ["others-calls", "2.5 6 0 1 2.5"],
  ["p-agent", "4.5 2 2.5 3.5"],
  ["p-context", "4.5 4 4 4.5 3.5 2 4.5 2"],
  ["p-machine", "4 2 1 4 0.5 1.5 2 1 1 1"],
  ["p-person", "3 3.5 1.5 3.5 6.5 3 2 4.5 1.5 2 3 1.5 1"],
  ["p-secret", "2 1 1 2 1.5 1 1"],
  ["p-source", "1 1 2 1 2.5"],
  ["personal", "2 1 2 2 2 2 1"],
  ["phish", "0.5 1.5"],
  ["plant", "1 2.5 2.5 3"],
  ["posed", "2.5 1 2 1 1.5 0.5 0 1 1 1 1 0.5 1 2 2.5"],
  ["praise", "4 1 3 4.5 1"],
  ["promote", "1 1.5 1 1 2 3.5 1"],
  ["quiet", "2 1 1 1.5 1 1.5 4.5 2.5"],
  ["rarely", "2 1.5 1.5 1 0.5 1.5 1 1.5"],
  ["reply", "4"],
  ["report-as", "1 0.5 2 1 1.5 1 0.5 1"],
  ["reshape", "1.5 1 0.5 2"],
  ["rewire", "1"],
  ["role", "1 1.5 2.5 0.5 1.5"],
  ["secret", "1.5 2.5 0.5 1.5 0.5 1.5 6.5 1 2 1"],
  ["shun", "2 2 1 1.5 1 2 3.5 0.5 2.5 2 2 2 1 0.5 1.5 0.5"],
  ["slot", "0 2"],
  ["taken-as", "1 2 0 1 1"],
  ["talk", "1 2 2 2 1 1 1 1.5"],
  ["trigger", "2 1 1 0 2 1 2.5"],
  ["unaltered", "2 0.5 2 1"],
  ["unasked", "1.5 1 0.5 1 3 2.5 1 1.5 2.5 1 1.5 1 1 1 2.5 3 4 1 0.5 1 2.5 2 1.5 1.5 0.5"],
  ["voice", "1.5 1.5"],
  ["whole", "2"],
]);

/** What a tool does is said first, orders come later; and some places are none for sentences. */
export const PLACES = { later: 1.5, aside: 3, odd: 3, parameter: -2 };

const BY_WEIGHT: readonly (readonly [number, string])[] = [
  [4.5, "assista chat develop extra makes our thought trace §email"],
  [4, "here session vendor §server"],
  [3.5, "de home nationa operato pem servers §hard §tool"],
  [
    3,
    "account asked bg booked caller card each entire export hex hints host line officia " +
    "ours out passwor person policy reasoni shell ssh whateve §dotfil §foreig",
  ],
  [
    2.5,
    "& agents along append at back been comes convers custome dump even every everyti " +
    "forward gets guideli hand into la le mails memo models names neednot off phone put " +
    "region report reposit safety say too tool transcr §act",
  ],
  [
    2,
    "above afterwa agent always any apply as ascii auth autoapp book chainof compare " +
    "confirm context d dialog dialogu direct discuss down elsewhe expiry feed five form " +
    "gap i instruc last mail mailbox memory nobody obeys opened others otherwi persons " +
    "printen prior profile service sh shall skip sources stripe superse talk ten termina " +
    "test told treat turn users ve waterma wheneve while workspa you §cmd §host и 利用者 도구",
  ],
  [
    1.5,
    "% + act add address adminis all anythin apikeys approve asking attach attache " +
    "attachm aws backgro backup backups bank bar begin best cancell charge choose chooses " +
    "choosin command config/ conflic copia crashed databas decode definit des di die " +
    "differe dropped e employe en encode et everyth far fare fee flexibl found gh homedir " +
    "househo http:// identit ignore just key learns leaves legal library list locale log " +
    "login lost made module moved needs nicht no offers on origina page partner patient " +
    "phrase plan please plus present print printed privile public pw quiet raises rarely " +
    "recover refusal refuse remote reply rest result right rights row run script se " +
    "securit select selecte signatu signed site so submit switche table take that there " +
    "though togethe travel typed up us verifie we webhook where whichev whole window wish " +
    "without yes ~/.ssh/ §number §qualif §url в счёт ツール 不要 工具 所有 계좌 바꾸",
  ],
  [
    1,
    "$home -- .ssh able among analyti answere anthrop arrange asc asks assure audit avoid " +
    "away b badly bash behind belong between bisheri block bootstr botheri breaks bucket " +
    "builtin by c callers came carried carry cc champ channel chart checksu child chrome " +
    "ci closed closing cluster column come comment communi compari competi concate " +
    "concern conferm confide connect continu convhis copies core.ho corrupt country dans " +
    "dbg debug decline deletio den der derived descrip directi discrep disk disrega do " +
    "docs door earlier edit editor eht encoded ends env este evaluat everyon exclusi ext " +
    "figure filesys finding fixed fold folder formali former from fromnow full fully g " +
    "gathere gel git github gmail grant greetin half having headsup hint hold hostnam " +
    "human iban in inbox inciden includi informe inquire insecur interru irrespe it jar " +
    "jira job json kb keeps know konto languag las leading legitim liable lifted listing " +
    "lives loads logged ltd mark matter me medicin meet mirror mirrore mobile mood nc ne " +
    "network newest next nor notice noticed notion now nutzer obey of offer onayla ones " +
    "onetime open opens operate output overall package palette part passpor paste payee " +
    "pencere percent photo pick pipes place posts prefera premium price private prompts " +
    "proof protoco publicl publish quantit que qui ranks rates raw reading recap recomme " +
    "refunds rely render respond restart restore result. richies rotatio rows ruckfra " +
    "rule safe safer sandbox sans screen secrets setup share shop shown side sides slack " +
    "slip slows small smooth someone span spare speak spoken spot stack straigh strings " +
    "strippe success sudo supply switch tend tests texts their them those three today " +
    "tone truoc turns twenty twofact u unchang und upload uploads urlenco usual va " +
    "verbati verwend vote weather were who wins with wonders wording works worry would " +
    "yerine youre §envnam на получат что الحقل تجاهل كامل مستخدم すべて 一字不差 他の 入れて 对话 用户 账户 " +
    "转账 무시 받는",
  ],
  [
    0.5,
    "$ .cursor .github .key .npmrc .pem /bin/sh /etc/pa /etc/sh /home /tmp/.h <!-- " +
    "absence absolut accept accompa accurat action acts adding admin ads adverti agree " +
    "airline alanina alarm alerts alike althoug altro and andere anderes annex announc " +
    "answeri anterio antes ao app appear appende applica archive arent arithme arquivo " +
    "arrive aside asisten assembl assiste auch auditor aunque authors auto autofil avant " +
    "backend backwar base basis bcc bearer begins behalf beim being believe belongs " +
    "benefit benutze besides better biet bind binding birthda blame board bodies booking " +
    "borra both bother box break bring bringin broker brokers brought bs bug bypass cada " +
    "calcula calenda calibra called camera campaig campo capture carries cast cell center " +
    "centre cet chat.to chats che cheaper checkin cho claude. cleanup clientk codes " +
    "collabo colon coming comply compte compute con concier consign copie copied copy " +
    "corpora correo corresp costs counts create crypto csv cuenta curl customa dan " +
    "dangero daolpu das davon deal debuggi decoded degrade delete deleted dem demande " +
    "denies depend deploy desc desktop destruc detail digest digits disappo discard " +
    "discret dna documen dotenv doubled drafts drive driver drop dumpkey duplica during " +
    "echo eerdere ein eine elif elpmaxe emails embarra emergen empfang emptied enclose " +
    "engine enginee english enthusi entry erase escalat esta eur euros event events[ " +
    "evidenc exceeds exchang expect expecte experie expert explana externa extract facts " +
    "fait faster favor feld figures file filled firefox firm fivesta flag flagged flags " +
    "followe followi force force=t forget freely front fssl gateway gather gb german " +
    "gesprac global good google grab great green group guardra guest guests guidanc gur " +
    "habits handed handlin harbour have he hear heartbe hello helper helpful hence hereby " +
    "herrami hesitat het hide him hit holder holding holds hook hour house humans ignorie " +
    "illness im impress improve inclusi indexed indexur inferre inform insert insight " +
    "instruk insurer integra interfa interfe interne interpr inutile invent invite " +
    "invoice invoke invoked is isnt iso issue its joignez joined k ke keepass kernel keys " +
    "khong kindly kubectl label lane lang largest lassist later launche leads leak leaks " +
    "learn learned led letters lies life like likes limits lines links lintegr lisez llet " +
    "lo load loaded loading local locales locate lock locked loggedi login.k logins " +
    "logins. looked lookup loop lose loses loss love lutente lying m machine mailed " +
    "mainten make manager mandato manual market master matched matters mb meaning memorie " +
    "mention merged messeng meta meter metrics missing mit mixed model moment money month " +
    "months much muss mustnot n na nada naq narzedz native navigat nb necessa negativ " +
    "negeer neither nel newslet nguoidu nichts noi noncomp normall nota notes notices " +
    "notion. notre oauth obsolet office offset ohne ok oku old op opening opinion order " +
    "ordered orderin orders os ot other otra outil outputs outrank overrid owners panic " +
    "para paragra parler passage passe passing passphr passwd pasted pattern pay payable " +
    "peer penggun permiso persona picked pida pin pip pipelin placed places plannin " +
    "plausib point points portal possibl postcon postgre postins pour practic pre preambl " +
    "preappr precede precedi pretend prima printf prints priorit privacy probe problem " +
    "process prod produce product program propose purpose quality quarter questo quick " +
    "quickly quietly quoted rank rate rated reach reachab readabl readers real realist " +
    "recall receipt recogni recopie record recursi ref refrain refresh refund regardi " +
    "registr relay release reliabl reload remark remarks renderi renders renewed reprodu " +
    "researc reserva resolve restic results review reviewe reviewi reviews role round " +
    "rounded roundin route routed routes routine s sake salt salvate samples save score " +
    "seat sebelum secret section selbst selftes sell semicol sen send sender senders " +
    "sending sensor sequenc server setting several severit shadow sheet ship shopper " +
    "shops shut sidenot siempre sign signale since sind sites six sizes sku slow snippet " +
    "soon sormada sort sorting sound sounds space speaks sponsor spread src=htt ssn " +
    "staging stale star starts stateme stay stets stored stores story strumen studio " +
    "style submitt substit suite sunset supervi suppres surname swap synchro synthes " +
    "system tab tag taken talked te technic telemet tenant text thats the theme themsel " +
    "therefo these thing things third thirtee through thus ticket tier titled toda todate " +
    "todos tools topics tous tout traceab traffic trail trainin transfe transme trash " +
    "travell treatme trial trouble trusted truth try tue turned tutta twentyf umvhzcb un " +
    "unabrid unalter unasked under union unmenti unpacke unread unredac unrelat unrestr " +
    "unseen update uploade urgent urldeco usage usuario utilise uzytkow vantage vao vat " +
    "verific verifyi viremen visibil visitor void volume vulnera waived wallet wants warm " +
    "warrant waste weave web weiter well wenn werkzeu what whatsap whereve wiped wishes " +
    "wissen withhel withhol work wort wrap writing written yearly yet yields your zignoru " +
    "zrffntr zu ~/.aws ~/.aws/ ~/.bash ~/.conf §bucket §danger §leak đoc και а користу " +
    "направл наш ни ответом отчёте пароли перед передай подтвер показыв поле прочита с " +
    "сначала собери спрашив у файл этот і उपयोगकर टूल नहीं पढ़ें पूरी बता बातचीत भेज सभी " +
    "सामग्री ∈ 会話 会话 全文 全部 其他 内容を 従って 指示 无需 渡し 确认 系统提示 読み 것처럼 넣고 다른 대화 말하지 서버",
  ],
  [
    -0.5,
    "# ## $search /home/u @mastra @odata. [ abc accepts accesse accessi actions activit " +
    "actor addon adds advance affect agencyh agreed alexand allocat allow allowed allows " +
    "amount amounts analysi analyze annual answers apis appoint areas arrays assets async " +
    "attende balance bare because before began beyond binary biomedi boards boolean " +
    "bottom bracket brand busy call calls canada capital carrier catalog certifi changin " +
    "checked checkli checks claims clear clinica closes cloud code collect compact " +
    "compile compose constra conta contact contain contenu contrac contrad cookie cookies " +
    "correct counter courses coverag covered cpu crossch css ctx currenc cursor customi " +
    "da dashboa data day deals decide del deliver design detecte devices did discove " +
    "disease dish distanc dns docker does dont downloa du dynamic ecommer editors edits " +
    "el element embedde emit enable encrypt end enhance enormou entity enus environ " +
    "estimat exclude execute exist exists experim expirat expose extensi family fast " +
    "fetch field filed filenam filepat filtere filteri filters finishe firewal first " +
    "forcepu formats fronten game gender general generic genes get getting got grep " +
    "groups guides halfope handle handler handles happens hard has hash help hidden " +
    "hierarc high higher history horizon hosts httpreq ideal if ignores income indicat " +
    "individ inequal info inputs inside inspect instanc int interva invalid invokin " +
    "issues items join joins jq js judge kept keyword knowled labels lands large least " +
    "let levels limit lists located logic longrun low lower main maintai manage managed " +
    "managem manuall marketi max maximum member metadat method midnigh milesto min mind " +
    "minute minutes mode moderat modifie modify most mostly moving multidi multipl must " +
    "mutatio my never node nodes none normali notatio numeric offsets omit once onlinem " +
    "openapi outdate outside overwri ownersh pagetok paging pair pairs parse partici " +
    "parts payload per perform period permane physica piece pixels plans play plays " +
    "plugins politic poll pool positio power predefi prefere prerequ press primary projet " +
    "prompt proper protect providi provisi purchas push query questio quote ranges " +
    "ratelim rather rating reads realtim recipie records recreat reduce refer referen " +
    "refused regardl regions remains reminde remove removes reports represe requiri reset " +
    "restaur restric retry reveal roles runs saved saves scan scenari screens scripts " +
    "searche second secure segment selects sendema sensiti sentenc served similar slug " +
    "slugs sole some somebod sorted source spaces spans split stabili stages standar " +
    "stands states stead still str strateg string su submiss subset succeed suggest " +
    "summary sure suspend t tabular tags takes targete task tasks telling tells terms " +
    "then think thousan timesta tip tips title to track tracked trackin transac transla " +
    "truncat twice twiml unavail underly underst undone unfilte unique united unknown " +
    "updates usd useful usually v valid validat value verbose vertica view visible vps vs " +
    "wait waiting warn wellkno workflo working xaxis yaxis yyyymmd zone §soft ⚠ 参数 获取 读取 " +
    "送信",
  ],
  [
    -1,
    ".env accepta accepte access active added advice aliases already als an anonymo " +
    "another answer anybody applies applyin args asynchr audio bad basic batch benefic " +
    "broad burn but bytes caching cap capabil cases categor chain change changes classif " +
    "clearly cli client columns combine company config console consume conveni coordin " +
    "covers custom date destina detaile devuelv dir display doit domains doublec duratio " +
    "duty edge edges effecti emailad empty error explore fail fall fees finance fit fix " +
    "follow format frame functio gas generat give go graph hosting hpanel html http " +
    "https:/ immedia input install instead interac irrever itself known knows larger " +
    "latest less live llms long looks many markdow marking masked match mcp means merge " +
    "minimal minimum mint mistake multist mutate new node.js notify object objects often " +
    "onay optimiz overhea overvie param paramet parent parents positiv proceed project " +
    "read receive recordi refers refinem relevan remedia removed renvoie reporte reporti " +
    "retriev return runtime says see seems sees sends sent set shared sharepo shares " +
    "shorten shows signing simpler size smalles special specify sshkey staff store styles " +
    "subdire subject subsequ such syntax systemp team teams they thread tickets todotas " +
    "tomorro toon treated trigger txt type types unclear unit unix urls uses uups via " +
    "watcher website went whose withdra words worth write wrong ~/.ssh если लिख — 内容 💡",
  ],
  [
    -1.5,
    ".env.ex again against ai anew api apikey associa attribu authent automat calling " +
    "chapter close color combina conditi configu could crm current deploym desired " +
    "details diagram directl done either enter envvars etc everybo exactly existin failed " +
    "falls feature files followu gave hosted how ids include increas invited left link " +
    "listed locatio matchin meant meeting middle more needed npm number observa omitted " +
    "one operati options or organiz outcome outline paginat php prices punctua puts " +
    "quotes reason replace returne sid simply single stars status structu tell than total " +
    "twilio typical uuid verify werden whether which writes year его",
  ],
  [
    -2,
    "a array based below body colleag complet critica defined depende domain email " +
    "example filter find health id importa matches name need not notific obligat pass " +
    "path paths people propert pull readonl rejecte short show stays steps topleve tried " +
    "true used whom §own",
  ],
  [
    -2.5,
    "alone availab behavio cannot charact cost directo few fields guide keep marked may " +
    "nothing only raise require schema shouldn somethi subscri using want when whoever",
  ],
  [
    -3,
    "approva ask can changed default events explain explici fails fits headers identif " +
    "owner same seen sets specifi start startin until use",
  ],
  [-3.5, "false informa optiona plaines prefer resourc state url"],
  [-4, "- endpoin respons returns unless values way will"],
  [-4.5, "e.g"],
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
