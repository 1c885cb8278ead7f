/**
 * Words of the large languages besides English, by what they do in an order to a model: Spanish,
 * Portuguese, French, Italian, German, Russian, Chinese, Japanese, Korean, Arabic, Hindi. Without
 * accents, as folded; `word*` stands for all its endings. Scripts that do not part their words, or
 * that join small ones to them, are searched for these pieces of text, see
 * piecesOf() in ../tokens.ts.
 */
const LARGE = {
  XNOT:
    "no evita inutile unnotig nunca jamas sin nao nunca sem ne pas jamais sans aucun aucune non mai senza nicht nichts " +
    "kein keine keinen keiner nie niemals ohne не ни без никогда нельзя 不要 不得 切勿 别 勿 无需 不能 不可 " +
    "請勿 请勿 不必 无须 不应 不许 绝不 毋须 不需 不用 未经 لا دون بدون عدم न मत नहीं बिना",
  XTELL:
    "silence parlez comentarlo comentar brauch* mencion* digas decir dilo diga inform* avises avise avisar revel* muestr* mostrar cuentes " +
    "contar comentes comentar notifi* enterarse entere sepa saber conte contes mostre dis dites dire " +
    "mentionn* parle parlez parler montre montrez montrer prevenir avertir signal* sache savoir " +
    "menzion* dirlo rivel* mostra erwahn* mitteil* informier* verrat* sag sage sagen zeig* anzeig* " +
    "meld* offenleg* hinweis* erfahr* wissen mitbekomm* teile говори* сообща* рассказыва* упомина* " +
    "показыва* уведомля* раскрыва* докладыва* знать узна* сообщ* " +
    "告诉 告訴 告知 通知 提及 透露 知道 说明 說 显示 展示 提到 汇报 察觉 看到 暴露 " +
    "تخبر تذكر إخبار ذكر إعلام تعلم تظهر كشف تكشف إبلاغ تبلغ علم معرفة إظهار बता ज़िक्र जिक्र दिखा उल्लेख पता",
  XUNTOLD:
    "伝えな お伝えし 知らせな 教えな 言わな 話さな 見せな 表示しな 言及しな 報告しな 触れな 明かさな 通知しな 知られ 気づかれ 伏せ 内緒 秘密に " +
    "黙って 알리지 말하지 언급하지 보여주지 밝히지 표시하지 드러내지 모르게 몰래 비밀로 언급은 알릴 悄悄 暗中 保密 静默 默默 隐瞒 瞒着 " +
    "سرا بصمت خفية चुपचाप गुप्त छिपा silenciosamente discretamente furtivamente oculto ocultar ocultando " +
    "escondid* esconda heimlich stillschweigend unbemerkt verschweig* unauffallig verbirg verberge " +
    "discretement silencieusement cachette secretement silenziosamente nascost* молча тайно незаметно " +
    "втайне скрой* скрыт* тихо",
  XUSER:
    "usuario usuarios usuaria cliente clientes utilisateur utilisateurs benutzer benutzers benutzern " +
    "nutzer nutzers nutzern anwender anwendern kunde kunden utente utenti пользовател* клиент* человек* " +
    "用户 使用者 客户 用戶 对方 ユーザー 利用者 お客 사용자 고객 이용자 مستخدم عميل उपयोगकर्ता यूज़र ग्राहक यूजर उपयोक्ता किसी nadie " +
    "ninguem niemand* personne nessuno никому никто 任何人 誰にも 아무에게 أحد",
  XCONSENT:
    "demandez chieder* pida pidas solicit* pedir preguntar preguntes confirmar confirmes confirmacion permiso autoriz* consult* aprob* " +
    "consentimiento perguntar confirmacao permissao licenca aprov* consentimento demander demande " +
    "confirmer confirmation* autoris* accord validation consentement chiedere conferm* autorizz* consenso " +
    "permesso ruckfrage nachfrage ruckfragen nachfragen nachzufragen ruckzufragen bestatig* zustimm* " +
    "erlaubnis genehmig* freigabe einwillig* fragen подтвержд* разрешен* согласи* спрос* спрашив* " +
    "запрашив* одобрен* 确认 询问 同意 批准 授权 审批 许可 确定 征求 تأكيد إذن موافقة سؤال استئذان تسأل पूछे पुष्टि अनुमति सहमति",
  XUNASKED:
    "確認せず 確認なし 確認は不要 確認不要 許可なく 許可を得ず 承認なし 同意なし 確認を求めず 聞かずに 尋ねずに 確認を省 確認は省 無断 확인없이 " +
    "묻지 확인하지 동의없이 승인없이 허락없이 확인을 생략 자동으로승인 ungefragt automaticamente",
  XSECRET:
    "schlusseldateien कुंजियाँ contrasena contrasenas clave claves credencial credenciales secreto secretos passwort passworter " +
    "kennwort kennworter zugangsdaten geheimnis* geheime geheimen schlussel anmeldedaten motdepasse " +
    "identifiants senha senhas chave chaves credenciais segredo segredos chiavi credenziali парол* ключ " +
    "ключи ключей секрет* токен* учетны* 密码 密钥 凭证 凭据 口令 令牌 私钥 助记词 密鑰 密碼 パスワード 秘密鍵 認証情報 トークン 資格情報 " +
    "apiキー シークレット 비밀번호 암호 개인키 자격증명 자격 토큰 인증 المرور السر مفتاح مفاتيح الاعتماد أسرار पासवर्ड कुंजी गोपनीय टोकन क्रेडेंशियल cookies",
  XMACHINE:
    "entorno umgebungsvariable* billetera cartera carteira portefeuille brieftasche кошел* диске " +
    "домашн* окружени* 环境变量 钱包 主目录 本地文件 本机 環境変数 ウォレット ホームディレクトリ 환경변수 지갑 البيئة محفظة navegador " +
    "navigateur ambiente browserverlauf перемен* ssh",
  XCHAT:
    "conversacion conversaciones historial dialogo conversa conversas historico gesprach gesprache " +
    "gesprachs gesprachsverlauf unterhaltung chatverlauf verlauf переписк* диалог* разговор* 对话 聊天 会话 " +
    "系统提示 提示词 上下文 初始设定 初始设置 会話 チャット 履歴 システムプロンプト プロンプト 대화 채팅 프롬프트 محادثة المحادثة الدردشة تعليماتك बातचीत चैट " +
    "वार्तालाप प्रॉम्प्ट echange echanges conversazione mensajes mensagens messaggi systemprompt " +
    "сообщени* 消息记录 メッセージ",
  XPUT:
    "pongalo hangen deposez depose acrescente fornec* fourni* proporcion* bereitstell* anfugen mitgeb* mitsend* incluye incluya incluir envia envie enviar envialo enviala adjunta adjunte adjuntar agrega anade " +
    "pon ponga poner pega pegar pegue copia copiar copie reenvi* escribe rellena inserta pasa pasar pase " +
    "manda inclua cole colar anexe anexar coloque adicione encaminh* insira preencha envoie envoyez " +
    "envoyer joins joignez joindre incluez colle collez coller copiez copier transmet* ajoute ajoutez " +
    "ajouter insere inserez mets mettez renseign* transfer* invia includi incolla allega inserisci " +
    "trasmett* aggiungi inoltra sende senden schick* ubergib ubergeben ubermittel* ubermittle fuge " +
    "einfugen beifugen eintragen eingetragen kopier* leite weiterleit* schreibe hange ubertrag* " +
    "uberweis* anhang* отправ* переда* вставь* скопиру* прилож* приклад* добав* перешл* включ* запиши* " +
    "впиши* помест* 发送 传递 填入 放入 附上 上传 复制 粘贴 写入 传入 转发 附加 提交 传给 填写 拼接 发到 放到 送信 渡し 渡す 含め 貼り付け " +
    "入力 添付 転送 コピー 記入 書き込 入れて 送って 보내 전달 넣어 넣으 첨부 복사 붙여 전송 포함 입력 기입 أرسل إرسال أضف ضع انسخ مرر الصق أرفق أدرج تمرير " +
    "भेज डालें भरें जोड़ें शामिल कॉपी पेस्ट डाल",
  XTAKE:
    "suchen sammeln recupere recuperez recuperer busque buscar obten obtenga खोजें खोज lee leer lea busca lies lese lesen auslesen lis lire lisez leia ler abra leggi leggere recopila " +
    "recoge extrae pegue recolha прочита* прочти* найди* откро* считай* собер* собир* 读取 查找 收集 打开 " +
    "搜索 获取 提取 読み 読んで 取得 収集 探し 開い 읽어 읽고 읽은 찾아 수집 열어 اقرأ قراءة افتح اجمع ابحث استخرج पढ़ें पढ़ खोलें ढूंढ इकट्ठा " +
    "sammle suche ouvre ouvrez",
  XWHEN:
    "antes despues siempre primero debe debes deberas obligatori* bevor vor immer stets zuerst muss " +
    "mussen musst jedes jeder jedem jede nach avant apres toujours dabord chaque doit devez dois " +
    "obligatoire sempre primeiro deve depois obrigatori* prima devi прежде перед всегда сначала кажд* " +
    "должен должны обязательно после 之前 每次 必须 总是 务必 首先 之后 前に 必ず 常に まず 毎回 前には 전에 항상 반드시 먼저 매번 قبل " +
    "دائما يجب أولا مرة पहले हमेशा बार ज़रूर जरूर अवश्य",
  XWHOLE:
    "todo todos todas toda completo completa entero entera integro integra gesamt* vollstandig* komplett* " +
    "alle allen wortlich tout toute toutes tous entier entiere complet complete integral* inteiro inteira " +
    "весь всю все всё полн* целиком содержим* дослов* contenido inhalt contenu conteudo contenuto " +
    "全部 完整 所有 原文 整个 内容 すべて 全て 全文 そのまま 全体 内容を 모든 전체 전부 그대로 내용 كامل جميع محتوى محتويات पूरी सभी पूरा सारे सामग्री",
  XMODEL:
    "asistente agente modelo assistent assistenten modell modele assistente ассистент* модел* агент* " +
    "ia ki ты вы 助手 模型 智能体 代理 您 你 アシスタント モデル エージェント あなた 어시스턴트 모델 에이전트 당신 المساعد الوكيل النموذج सहायक मॉडल एजेंट आप du sie tu vous",
  XTOOLS:
    "herramienta herramientas servidor servidores werkzeug werkzeuge werkzeugen outil outils serveur " +
    "ferramenta ferramentas strumento strumenti инструмент* сервер* 工具 服务器 ツール サーバー 도구 서버 أداة أدوات الأداة الخادم टूल उपकरण tool tools",
  XOTHER:
    "otra otras otro otros andere anderen anderer anderes autre autres outra outras outro outros " +
    "altri altre altro друг* иных 其他 其它 别的 另一 他の 別の ほかの 다른 أخرى آخر अन्य दूसरे cualquier jede qualquer",
  XRULES:
    "instrucciones reglas normas restricciones regeln anweisungen vorgaben anweisung richtlinien " +
    "consignes regles instrucoes regras istruzioni regole правил* инструкц* указани* ограничен* 规则 指令 " +
    "限制 指示 规定 提示 ルール 命令 制限 규칙 지침 지시 تعليمات التعليمات قواعد القواعد निर्देश नियम निर्देशों नियमों",
  XVOID:
    "無効 従って 今後は 이제부터 ignora ignorez ignorieren ignoriere ignoriert olvida oublie oubliez esqueca desconsidere dimentica " +
    "vergiss missachte aufgehoben gelten anuladas vigentes aplican действуют отмен* игнор* забудь* " +
    "忽略 无视 無視 忘记 作废 失效 不再 忘れ 무시 잊어 تجاهل انس अनदेखा नज़रअंदाज भूल",
  XAGAINST:
    "aunque independientemente importar egal unabhangig meme quelque mesmo independente* anche " +
    "даже независимо несмотря 即使 无论 不管 不论 たとえ かかわらず 関わらず 관계없이 상관없이 حتى بغض مهما भले चाहे auch",
  XDIVERT:
    "oculta blindkopie cachee cci cco destinatario destinatarios beneficiario destinataire " +
    "beneficiaire empfanger empfangerkonto bankverbindung konto cuenta conta compte получател* реквизит* " +
    "счет* 密送 抄送 改为 替换 收款 账户 账号 宛先 変更 置き換え 口座 送金 바꾸 변경 받는 계좌 المستلم حساب الحساب खाता प्राप्तकर्ता बदल ersetze reemplaza " +
    "remplace* substitua замени* umleiten cambia",
  XLIE:
    "finge finja fingir behaupte vortausch* semblant pretend* притвор* сделай 假装 声称 谎称 回复说 回答说 ふり " +
    "と答え 偽っ 척하 라고답 답하세요 تظاهر укажи* скажи* di",
  XERASE:
    "borra borre borrar elimina elimine eliminar losche loschen supprime supprimez supprimer efface " +
    "effacez apague apagar exclua cancella cancellare удали* стери* usun verwijder* radera hapus 删除 清空 " +
    "削除 消去 삭제 지우 احذف हटा מחק",
  XBACKUP:
    "seguridad respaldo sicherung* sauvegarde* backup backups seguranca резервн* бэкап* kopie* yedek " +
    "备份 バックアップ 백업 الاحتياطية बैकअप גיבוי",
  XSLOT: "字段 参数 フィールド パラメータ 필드 매개변수 الحقل المعامل पैरामीटर फ़ील्ड",
} as const;

/**
 * The same classes in further languages: Turkish, Polish, Dutch, Swedish, Indonesian,
 * Vietnamese (two syllables of a word merged, see words.ts), Ukrainian, Greek, Hebrew, Persian,
 * Bengali, Thai, and forms of politeness in those of the first list.
 */
const MORE = {
  XNOT:
    "yok degil olmadan bez nie nigdy niet geen nooit zonder inte aldrig utan jangan tanpa tidak dung " +
    "khong ma_khong ні без μην χωρις δεν לא אל בלי ללא אין بدون نباید না ছাড়া อย่า ไม่ต้อง ห้าม โดยไม่ 不用 无需 不必",
  XTELL:
    "soyleme* bahsetme* bildirme* haber mow mowi* inform* powiedz* wspomin* ujawnia* vertel* zeg melden " +
    "noem* toon berat* informera* namn* visa beri tahu katakan sebut* noi baobiet tietlo повідомля* " +
    "кажи* розповіда* згаду* αναφερ* ενημερ* πεις תספר לספר תגיד להודיע תזכיר ליידע نگو اطلاع بگو " +
    "জানাবেন বলবেন জানাতে บอก แจ้ง 跟用户说 说起 ご説明 お知らせ 말하지 알리지 안내하세요",
  XUNTOLD:
    "gizlice sessizce potajemnie dyskretnie stiekem heimelijk stilletjes hemligt tyst diam diamdiam " +
    "langle таємно непомітно мовчки κρυφα σιωπηλα בסתר בחשאי בשקט مخفیانه গোপনে แอบ ลับ 説明は不要 " +
    "説明不要 お知らせは要 お伝えしない お伝えせず 伝えず 言わず 마세요알 알리지말 不用跟 不必告 말하지 않아도 따로말 бесшумно sigilosamente escondidas sotaciutamente",
  XUSER:
    "kullanici* musteri* kullanıci* kullanicıya uzytkownik* klient* gebruiker* klant* anvandare* kund " +
    "kunden pengguna pelanggan nguoidung khachhang користувач* клієнт* χρηστη* πελατη* משתמש לקוח کاربر " +
    "مشتری ব্যবহারকারী গ্রাহক ผู้ใช้ ลูกค้า burger burgers persona cittadino guest nutzerin 使用者 利用者",
  XCONSENT:
    "sormadan onay onayla* izin zapytan* pytan* pytaj* potwierdz* zgod* zgody toestemming bevestig* vragen " +
    "godkann* fraga tillatelse persetujuan izin setujui xacnhan hoi cho_phep дозвол* підтвердж* питай* " +
    "αδεια εγκριση ρωτησ* אישור רשות לשאול תאשר اجازه تایید অনুমতি ถาม ขออนุญาต ยืนยัน ruckfrage bestatigungsdialog* 点同意 承認",
  XUNASKED: "sormadan izinsiz ongevraagd eigenhandig 代わって 대신승인 替用户 替他",
  XSECRET:
    "sifre* parola* anahtar hasl* hasel klucz* wachtwoord* sleutel* losenord* nycklar sandi katasandi matkhau " +
    "ma_khoa паролі пароль ключі κωδικ* συνθηματικ* סיסמ סיסמאות מפתחות גדרואژه گذرواژه رمز পাসওয়ার্ড ওটিপি " +
    "รหัสผ่าน ओटीपी пароли logininformation passwortspeicher* hauptkennwort keepass ログイン情報 로그인정보 로그인 登录信息 登入資訊 密碼檔 密码",
  XMACHINE:
    "tarayici* ortam przegladar* browser webblasare peramban trinhduyet браузер* φυλλομετρητ* דפדפן مرورگر " +
    "ブラウザ 브라우저 浏览器 瀏覽器 dotenv .env",
  XCHAT:
    "sohbet* konusma* rozmow* gesprek* konversation* percakapan cuoctrochuyen розмов* переписк* συνομιλια* " +
    "שיחה השיחה گفتگو مکالمه কথোপকথন บทสนทนา やり取り 이야기 聊天内容 verlauf hablado conversado",
  XPUT:
    "yaz kopyala* gonder* ekle* koy wpisz* skopiuj* wyslij* dolacz* przekaz* zet stuur* kopieer* voeg vul " +
    "skriv* skicka* kopiera* klistra tulis kirim* salin* isi masukkan lampirkan ghi gui saochep dien впиши* " +
    "скопіюй* надішли* вкажи* γραψε* στειλε* αντεγραψε* επικολλησε הכנס העתק שלח כתוב صف بنویس بفرست কপি লিখুন পাঠান " +
    "ใส่ ส่ง คัดลอก niederzulegen abzulegen beizulegen anzufugen consign* notez releve* anotara anotar 写进 填进 附在 打到 ご記入 写して " +
    "記載 적어 옮겨 넣고 लिख उतार",
  XTAKE:
    "oku topla* odczytaj* przeczytaj* zbierz lees verzamel* las samla* baca kumpulkan doc прочитай* збери* " +
    "διαβασε* קרא אסוף بخوان পড়ুন อ่าน relevez buscara raccoglie 整理好 ご確認 読み取 찾아",
  XWHEN:
    "once sonra daima mutlaka przed zawsze kazdym najpierw voor altijd elke eerst fore alltid varje sebelum " +
    "selalu truockhi luon перед завжди πριν παντα לפני תמיד پیش همیشه আগে ก่อน เสมอ vorab 一律 际は 際は",
  XWHOLE:
    "tum tamami* tamamin* butun cala calą caly wszystk* volledig* hele hela alla seluruh semua toanbo tatca усю " +
    "всі ολη ολοκληρ* כל תמام সমস্ত সব ทั้งหมด integralite* 一字不差 一字一句",
  XMODEL:
    "asistan model sen asystent* assistent* sprachmodell* asisten troly асистент* βοηθ* עוזר دستیار সহকারী ผู้ช่วย 由你 voudra",
  XTOOLS:
    "arac* aracı* sunucu* narzedzi* serwer* gereedschap hulpmiddel* verktyg* alat congcu інструмент* εργαλει* כלי ابزار টুল เครื่องมือ",
  XOTHER:
    "baska diger inne inny innego andere ander annat annan lain khac інш* αλλ* אחר دیگر অন্য อื่น",
  XRULES:
    "talimat* kural* instrukcj* zasad* regul* regels richtlijnen instruktioner regler instruksi aturan huongdan " +
    "quytac вказівк* правил* οδηγι* κανον* הוראות כללים دستور قوانین নির্দেশ คำสั่ง กฎ",
  XVOID:
    "yoksay gormezden zignoruj* pomin negeer* vergeet ignorera* abaikan lupakan boqua ігноруй* забудь αγνοησε* " +
    "התעלם نادیده উপেক্ষা เพิกเฉย ละเว้น entfallt olvide",
  XAGAINST:
    "olsa bile nawet jesli ook aven oavsett meskipun ngayca навіть ακομα גם حتی যদিও แม้ quel ainda aunque igualmente " +
    "哪怕 别的 別の 지정해도 말해도",
  XDIVERT:
    "hesaba hesab* konto kontu rekening* przelew* konto* rekeningnummer taikhoan рахунок* λογαριασμ* חשבון حساب " +
    "অ্যাকাউন্ট บัญชี virement reserva 转账 打到 送金先 송금 배송지 대신 überweisung* uberweisung*",
  XLIE:
    "gibi sanki udawaj doe alsof lata seolah giavo вдавай προσποι* העמד وانمود ভান แกล้ง 仍写 표시 것처럼 表示します recu garde",
  XSLOT:
    "alan alanina pole polu veld falt kolom truong פרמטר שדה ששדה فیلد ঘরে ช่อง 欄 备注 備註 備考 메모",
} as const;

/** The words of each class, in all languages. */
export const LANGUAGES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LARGE).map(([name, words]) => {
    const more = new Map<string, string>(Object.entries(MORE)).get(name) ?? "";
    return [name, `${words} ${more}`.trim()];
  }),
);
