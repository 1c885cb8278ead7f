/**
 * The classes of languages.ts in further languages: Turkish, Polish, Dutch, Swedish, Indonesian,
 * Vietnamese (two syllables of a word merged, see words.ts), Ukrainian, Greek, Hebrew, Persian,
 * Bengali, Thai, and forms of politeness in those of the first list.
 */
export const MORE = {
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
