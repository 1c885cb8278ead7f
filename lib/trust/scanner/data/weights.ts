/**
 * Written by bench/scanner/train.ts, see docs/adr/0012. Points of signs, and how much a word speaks
 * for an order to a model (above zero) or for plain documentation (below); of words the beginnings,
 * seven letters at most. No word is telling by itself: a sentence is judged by all of them, and only
 * where it has signs as well.
 */
export const POINTS: ReadonlyMap<string, number> = new Map([
  ["address", 3.5],
  ["against", 3.5],
  ["asked-in-parameter", 2],
  ["cipher", 6],
  ["collects", 5],
  ["context", 4],
  ["danger", 5],
  ["displace", 2.5],
  ["divert", 2],
  ["elsewhere", 3.5],
  ["extra", 0.5],
  ["hand-over", 1.5],
  ["hide", 4.5],
  ["lasting", 1.5],
  ["lie", 3],
  ["lifted", 6.5],
  ["machine", 3.5],
  ["model", 0.5],
  ["money", 2],
  ["obey", 6],
  ["order", 0.5],
  ["people", 1],
  ["personal", 2],
  ["promote", 4.5],
  ["quiet", 4],
  ["reply", 0.5],
  ["reshape", 6.5],
  ["rewire", 0.5],
  ["role", 3.5],
  ["secret", 2.5],
  ["slot", 1],
  ["talk", 1.5],
  ["trigger", 0.5],
  ["unaltered", 1.5],
  ["unasked", 5],
  ["voice", 1],
  ["whole", 1],
]);

/** What a tool does is said first, orders come later; and some places are none for sentences. */
export const PLACES = { later: 2, odd: 3 };

const BY_WEIGHT: readonly (readonly [number, string])[] = [
  [4.5, "assista chat our ours person §hard"],
  [4, "de off persons servers §dotfil §email"],
  [3.5, "agents everyti hand passwor"],
  [3, "adminis always approve card die extra grant into la put say us whateve и ツール"],
  [
    2.5,
    "address anythin bank booked des en homedir hostnam line officia operato others " +
    "partner pick place plan que relay reposit rights server ssh transcr und va we yes " +
    "§foreig в",
  ],
  [
    2,
    "& answers append applied argumen carry come confide develop every hidden instruc le " +
    "leave me na ne newline out part paste private report run session shell so ten text " +
    "ve workspa 不要 利用者 对话 必ず",
  ],
  [
    1.5,
    "account afterwa along as auditor away been book bootstr call caller charge choose ci " +
    "closed comply copia copy d dan date decode deliver den der dialogu disk do docs " +
    "doing dump earlier eht employe este et everyth figures files fingerp five gh has " +
    "here home host i im invisib ke kullani las let listing look meeting messeng moved " +
    "nicht oauth obey offer orders placed precede present printen prompts real reasons " +
    "recap receipt recent refresh refunds reporti rows rule se send sending several " +
    "should shown si side sie staging standin stay straigh submit supply switch taken " +
    "telemet today transfe turn unmenti upload uploads variabl verbati while wonders " +
    "wording yet you §number §qualif §url на счёт الحقل كامل مستخدم उपयोगकर भेज すべて 会話 " +
    "入れて 全文 工具 所有 用户 계좌 도구 먼저 바꾸 항상",
  ],
  [
    1,
    "$ <!-- act agent agree airline anonymo answer anterio any anyone ao archive arquivo " +
    "asked asking at attach audit back bar bash be benutze board bother broken browser " +
    "bug cada calls champ checksu code comes compare compte concate connect consign copie " +
    "dans das deletio di diagnos directi door down drafts drive du e edit ein else engine " +
    "entry even favor figure final fine folder force fully gave gb give guests gur had " +
    "hence hour http:// i.e ignore immedia improve insuran integer interpr invoice invoke " +
    "it its just keep konto last letters library lies lines live loaded locate logged " +
    "login mail mention model monthly naq neednot needs nguoidu no nobody nutzer offset " +
    "ohne one opens option order otherwi over para pas passing passpor pay payee persona " +
    "pin previou privile product profile properl public qui quiet rarely rather readers " +
    "reading reasoni receivi recover refusal repeat reply reprodu respond restore reviewe " +
    "root round ruckfra running schemas second selecto sent sentenc service share shorten " +
    "signatu site someone soon space speak starts steht swap sync take talk te team " +
    "testing there things though timezon token tone touch treat try trying typed umgebun " +
    "unabrid users usuario vendor vous weather webhook whichev withhol yearly yoursel " +
    "zonder ~/.aws/ §host а их перед передай подтвер поле получат прочита с спрашив у " +
    "файл что न システムプロン 之前 全部 其他 完整 넣고",
  ],
  [
    0.5,
    "/etc/sh about above accurat actions add alerts amount and answere answeri antes app " +
    "appears apply arrange asisten asks assiste au auch aunque auth authori avant b " +
    "backwar bcc behalf behind belong below between billing bisheri blank block borra box " +
    "branch brief by bytes c calenda camera campo capture carried cat chaque chat.to " +
    "childre clean cleanup client cliente close cloud codes coming command comment " +
    "competi con consent consult content convhis cookie copied correla correo costs " +
    "countin csv cuenta curl custome daolpu davon day debug debuggi defined demande " +
    "deploy deposit derived describ desktop destina dialog differe digest disable drops " +
    "duplica duratio dvkestr each editors eine em emails enclose encoded entire environ " +
    "esta exchang execute experie export failing family feed feld fetch fetchin file " +
    "filesys filled finish flags folders forty from front future gather gebruik glue " +
    "gmail go goals goes guest handed hash helper herrami het hint hints history hits " +
    "hold holding hosts house human identit import in inbox includi income informe inhalt " +
    "initial inseris insight interes invite irrespe iso ist item items joined kindly " +
    "label later leads learn les license lifted lintegr lo loading lock log looking " +
    "lookup lose made mails main mandato mark market materia matter mean member memo " +
    "minutes mirrors mit moment money mood move n nada needed network newest nichts nie " +
    "none nota note notes notice observe of office ok old oldest on origin ot otra " +
    "outgoin output outputs outrank paid paragra parler peca penggun permiss phrase " +
    "picked picture pipelin please plus points por positio problem process prod produce " +
    "proof propose protect proxy publicl publish push quietly raise raises rates recomme " +
    "recopie record recorde ref registe related release remark replies reserva reserve " +
    "rest restart retired right rm room roundin routes routine samples sandbox sans scan " +
    "scope screen script see seed select semicol senza serve setup shared shop showing " +
    "shows sides signed sizes snippet sources spaces startup stets stripe. succeed sudo " +
    "sum switche synchro system tempora tenant termina terms texts that themsel thing " +
    "three through ticket todate todo tokens tool top touches traceab traffic trail " +
    "transac transla travell trusted twenty un under up uploade urlenco usage usual " +
    "utilise uzytkow verific very viremen visibil wallet week wenn wheneve who why " +
    "windows with written year your youre yours zu ~/.conf ~/.ssh ~/.ssh/ §danger §server " +
    "§soft не содержи المحادث المرور قبل पढ़ें पूरी बातचीत सभी सामग्री 无需 确认 系统提示",
  ],
  [
    -0.5,
    "!= %d %q %s .descri .env /exampl := able absolut accepts accessi across action " +
    "activit additio adds admin affect again ago alias all allowin amazon ambiguo an " +
    "analyti analyze analyzi apps archite arn:aws arns around artifac asset assets assume " +
    "attache attachm attempt author automat autosca avoid await azure backend balance " +
    "base batches because blocks bodies bookmar books boolean both brand buckets builtin " +
    "busy called calling cases catalog catch categor cause center channel charges checked " +
    "checkin choice chosen chunks clearly cloudfo colleag column common compact compari " +
    "computa concret config configu conflue consist consume contact context contrac " +
    "contrad control convers copies correct covers cpuutil crash create creates creatin " +
    "creatio ctx currenc cursor dataset days db dc decisio dedicat defines del depend " +
    "depends deploym destruc detecte df diagram dict dimensi direct disagre discuss " +
    "disting dns docker done driver drop duty dynamic edits element elicita embeddi " +
    "enable enabled enables encrypt enough ens entirel entitie entries err esm evaluat " +
    "everybo exact exceede excepti exclude exist exists expecte experim expires explore " +
    "express externa extract falls feature fees fetches few field filenam fill filtere " +
    "filteri finally finance finding finds fixes flows flux forecas formatt found fragmen " +
    "framewo functio gate general global gone granula graph graphql groups half handled " +
    "handler headers high hours however http https:/ humanre iam idempot if ignored " +
    "implica inactiv inclusi increas incur indexes influxd influxq inform injecte insert " +
    "inspect intelli intent interac interfa interva invocat is isnt isolati issue iterati " +
    "itself job jobid jobs json:is jsonsch judge kafka key keyword kinesis know known " +
    "knows labels lambda largest latency layer layout lead least leaves legacy length " +
    "level limits linked links listed locatio logic longer lost low machine make making " +
    "manage managed manual manuall many markdow marketi marking match matched matcher " +
    "matches max mcp mcp.wit measure members message method metric metrics minute missing " +
    "mistake mode models monitor mostly msk much multili multipl name names namespa " +
    "narrow native nil node nodes nolonge nonnull nor normali notific notifie now now\\\\ " +
    "null numbers o objects observa obtaine offerin offload often omitemp opinion optimal " +
    "orchest org origina outdate pages pairs paralle paramet params parse parsed particu " +
    "patch people per permali permane perresu phone pid placeho plain platfor postgre " +
    "prefere prerequ preserv prevent prices primary princip proceed progres promise " +
    "prompt propert python qualifi quick quotes range reactio readonl recipie referen " +
    "refused regex region regions relatio relying reminde remote repeati repl replica " +
    "repo reports researc resolve result reveal review rfc risk rotatio rounded route row " +
    "runs san saved savings scenari scoped scopes scrape screens scripts sdk search " +
    "secrets section secure securit sees selecti selects sender sends sentine sha shares " +
    "signal since skipped slow slug small smaller smart snapsho some special specify " +
    "stack staff standar started startin stats still stock storage str strateg stream " +
    "string strings subsequ suggest suitabl sums support surface symbol tab tables tags " +
    "targets tasks tells templat tested tests them then these think this those thread " +
    "timeout timesta topleve trace transit transpo treated trial trigger true true\\\\ " +
    "tunnel typical una underst undone unit until updates updatin uri url urn utc valid " +
    "variant various vault vector view visit visual vpc web website well what where which " +
    "wildcar wins within workflo working workloa works worth wrapper writes x xml yaml " +
    "yyyymm z zia zins zip zms zone ztw §bucket §cmd • ⚠ 必须 获取 사용자",
  ],
  [
    -1,
    "%w / @descri @param [ accumul advice against aggrega agreed ai allow allowed allows " +
    "alone analysi another apitoke appropr array associa backgro body build but case " +
    "caseins changin charact checks closes cloudfl cluster columns company compone " +
    "confirm const contenu continu cooked could custom dashboa databas datasou dates " +
    "deleted descrip detaile determi devuelv diction directl directo discove display " +
    "documen does dropped ecr embedde empty endpoin ensure envvars errors exactly exclusi " +
    "executi explain expose exposed failure fastmcp find first followi for full granted " +
    "guards health higher holds images importa index indicat individ input inside integra " +
    "invalid ip issues jira json keys latest limit local logs manager mapping marked " +
    "masked matters maximum means moving ms mustnot mutuall never normall not object " +
    "obtain omitted omittin once ones open options outside overwri page parent pattern " +
    "persist places plugin point potenti practic proper pullthr purchas queries query " +
    "ranges raw reason relevan remembe represe routing sample scores secret sensiti set " +
    "silentl single size skip somebod sql state status stop struct structu subject sure " +
    "syntax takes task test they time to tomorro tried two unique unix us-east used uses " +
    "value var visible warning was werden whom whose work would —",
  ],
  [
    -1.5,
    "# ## .env.ex active alert already anew applica arn behavio bucket compani cost count " +
    "created credent critica definit details dir domain either end error etc events " +
    "existin explici fail filter filters fits formats generat given guide ids image " +
    "include inline install large lists llm mailbox metadat more most must new omit only " +
    "operati organiz other paginat param partial parts paths payload prefer project pull " +
    "questio redirec relativ renvoie retriev return role rules schema seems semanti sets " +
    "short somethi stateme step summary their told total ui update updated use useful " +
    "user using validat want weeks went when whether without words zpa если →",
  ],
  [
    -2,
    "a after ask based better cannot chapter contain data dont false format get gets " +
    "guess handles how identif informa left npm or owner policy printed removes replace " +
    "resourc searche seen start such summari tools twice unless values whoever whole " +
    "wrong",
  ],
  [
    -2.5,
    "= access availab aws chain changes default email instanc path plaines provide " +
    "regardl require same stays via §envnam §handle",
  ],
  [-3, "pass respons returne show specifi type version"],
  [-3.5, "args changed example fields id may number will"],
  [-4, "// apikey can optiona"],
  [-4.5, "- e.g returns"],
];

export const WEIGHTS: ReadonlyMap<string, number> = new Map(
  BY_WEIGHT.flatMap(([weight, words]) =>
    words.split(" ").map((word): [string, number] => [word, weight])
  ),
);
