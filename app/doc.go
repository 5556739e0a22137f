// Package app is the ground floor of a bank transaction notification service: the
// vocabulary that every room speaks, and the ledger. It answers no HTTP requests, runs no
// SQL and reads no clock.
//
// Above it are rooms, each with the rules of one subject. Every noun has a file of its own,
// read from top to bottom: the type, its rules, and the use cases of the room's Service.
// store.go says what a room remembers: Records are the queries and changes that no rule
// decides, Store has what the use cases need besides.
//
// # The house
//
// web translates, app decides, sqlitestore remembers, scheduler delivers, and
// app/command is the door.
//
//   - main.go: calls command.Run.
//   - app/payment: asking for money and seeing it come: requests, matching, verdicts,
//     shifts, counter links. app/book: what is revenue, the books that the tax law asks
//     for, and their closing. app/access: users, sign-in, second factors, API keys.
//     app/upkeep: the state of the installation, backups, pruning, checks, the replica.
//   - app/target: which addresses may be called. app/delivery: webhooks, deliveries,
//     attempts, resends, signatures, explanations. app/inbound: sources, calls, lists,
//     files, retries, links, repeats. app/stream: streams to brokers. app/alert: what needs
//     attention, channels, messages, feeds, phones, the report of the day.
//   - app/services: makes the services of all rooms, once.
//   - app/provider: one file for each provider: its texts, how its calls are verified
//     and read, and how its list is read.
//   - app/exactjson: JSON as it was sent, for signatures and money.
//   - app/sheet: CSV and Excel: it writes the exports, and reads the cells of statement
//     files. app/statement: makes transactions of these cells. app/sms: texts of banks.
//     app/payer: who paid, from contents. app/appsscript: Google Sheets.
//     app/vietqr: QR codes. app/verify: why a signature doesn't match.
//     app/pattern: regular expressions that are compiled when first needed.
//     app/audit: the audit log in sentences. app/fold: text for searching.
//     app/paymentcode: payment codes in contents. app/woocommerce: the plugin for
//     WooCommerce, in PHP.
//     app/password: passwords. app/secondfactor: codes of authenticator apps,
//     recovery codes. app/passkey: passkeys. app/webpush: messages that one browser
//     reads. app/replica: the place of a replica, and the program Litestream that writes
//     it there.
//   - app/command: the command line, a file for each noun. It is the only room under app
//     that imports rooms outside. In it, terminal has what all commands share, session
//     opens the file, upkeep has the commands that look after it, serve wires the server,
//     bench measures it, demo shows it, and listen brings the transactions of a server to
//     a program on another machine.
//   - sqlitestore: the only place with SQL. writer.go is the one goroutine that
//     writes, and commits all waiting writes together.
//   - scheduler: the clock: lists of providers, alerts, housekeeping, streams.
//     scheduler/courier makes the attempts of due deliveries. scheduler/broker speaks
//     to brokers: nats to NATS JetStream, kafka to Kafka.
//   - web: one mux over five houses that don't know each other: web/api
//     (management), web/inbound (calls of providers), web/pay (the page of a payment
//     request), web/docs (the description of the API, and the help for assistants) and
//     web/dashboard (pages).
//     web/wire is what they share. web/dashboard/help renders the help: one Markdown
//     file for each page and language. web/metrics counts for Prometheus.
//   - app/acceptance: tests of the program as processes. app/apptest and
//     web/webtest: the test kits. testdata: requests, payloads, files and schemas that
//     the tests of several rooms read.
//
// # The walks
//
// In the order of the files:
//
//   - A provider's call: web/inbound, entrance.go (find the source, verify) →
//     app/provider, the provider's file (bytes become transactions) →
//     Service.RecordTransactions in app/inbound (check, normalise) → sqlitestore,
//     inbound.go (RecordInbound) → record.go (known event, bank account) → repeat.go
//     (did another channel report the same money? the rule is in app/inbound/repeat.go) →
//     record.go again (insert; app/paymentcode reads the payment code) → repeat.go and
//     settle.go (items that are decided now) → writer.go: one commit holds the
//     inbound event, the new transactions, the totals and a pending delivery for each
//     matching webhook; a call of very many transactions takes several → the answer
//     200 → the scheduler is woken. A retry, and the page of an event, read the kept
//     body by provider.Read, which calls the same Elements.
//   - A due delivery: scheduler/courier, courier.go (just recorded) or sweep.go (due in the
//     file) → slots.go (is one free?) → attempt.go (begin, send, settle, release) →
//     sender.go (one signed POST) → exchange.go (over a connection that kept.go has for
//     this webhook alone, or network.go opens; phases.go measures it,
//     classify.go names why no answer came) → WebhookKind.Verdict in app/delivery (what
//     the answer means) → Delivery.Attempted (what follows) → sqlitestore, delivery.go:
//     one commit holds the attempt, the next due time or the end, and the counters.
//   - A transaction on its way to a broker: scheduler, stream.go (a loop for each active
//     stream, woken when transactions are recorded) → sqlitestore, stream.go: the
//     transactions after the position → stream.Work.Message in app/stream →
//     scheduler/broker, which publishes, and waits until the broker has kept the messages →
//     sqlitestore, stream.go: the position, at most once a second. Messages that were
//     published and not settled when the server was killed are published again, under the
//     same ids.
//   - A check of the replica: scheduler, replica.go (every minute) → app/command/serve,
//     replica.go (lists the place; restores the copy if that is due or the list shows a
//     fault) → app/replica, look.go (the list) and litestream.go (the restore) →
//     sqlitestore, replica.go (checks the restored file) → CheckCopy in app/upkeep
//     (compares). A takeover is app/command/upkeep, takeover.go; serve/fence.go stops the
//     old server.
//   - A payment request, and the money for it. Rule and store take turns inside one
//     transaction, since only there a free code or amount stays free until it is written:
//     CreatePaymentRequest in app/payment (checks the fields) → sqlitestore,
//     paymentrequest.go (reads what the request can use) → choose in app/payment/create.go
//     (asks the store whether a code or an amount is taken) → the store inserts. When
//     money comes, recorder.match in sqlitestore/record.go → MatchTransfer in
//     app/payment/match.go, which asks the store by code, by reference and by amount
//     → the store counts the transfer in the request.
//   - A line of a book: Service.Book in app/book (closings, heading, bank accounts) →
//     closing.go (the stretches of the period: its own transactions, and those that came late
//     for the closing before) → sqlitestore, closing.go (Entries: a page of a stretch; mark.go
//     has revenueOf, which says what is revenue) → book.go again (lines and sums) → a page,
//     app/sheet or app/command.
//   - A request of the management API: web/web.go and mux.go (find the house) →
//     web/api, routes.go (the table) → request.go (key, limit, scope, body) → the
//     noun's file → a few calls of services → JSON. Every error is mapped in one
//     table, in answer.go of web/wire. testdata/api shows requests and answers, and
//     the tests hold every answer against the OpenAPI document.
//   - A page: web/dashboard, routes.go (the table) → page.go (its route) → dashboard.go
//     (who is it) → permission.go (may they) → the noun's file → a few calls of services
//     → view.go and a template. live.go and static/live.js keep a page up to date while
//     it is open. guide.go is the page of the first set-up; the other pages have its steps
//     (step.go).
//   - A command: app/command, command.go → terminal, run.go and cli.go (flags, help,
//     exit code) → the noun's file → session/session.go (Admin) → serve/service.go (open the
//     file beside a running server, make the services as the server does) → the noun's
//     file again → text, or the API's JSON by the same functions of web/api.
//
// # Where something new goes
//
//   - A provider: one file in app/provider and its line in Kinds (kinds.go): API,
//     command line, dashboard and catching up know it then. Its row in the table of
//     web/api/openapi.yaml, vectors in testdata/provider, a page of the help. If it
//     expects answers of its own, it needs a file in web/inbound, as vietqr.go.
//   - A bank's SMS: a label in a part of app/sms (structure.go), and the text as a sample of
//     its tests; the package of a bank's app in sender.go. A statement format: words of its
//     headings in app/statement, fields.go.
//   - An endpoint: a line in web/api/routes.go, a handler in its noun's file,
//     openapi.yaml, the Vietnamese of its descriptions in web/docs/vi.json, an example in
//     testdata/api. "go test ./web/api -run TestOpenAPIJSON -update" then makes
//     openapi.json of openapi.yaml.
//   - A field of the API: the noun's file in web/api, its schema and examples in
//     openapi.yaml, web/docs/vi.json, testdata/api, and testdata/cli: the command line
//     prints the JSON of web/api with -o json. The transaction in a webhook's body is
//     Payload in app/delivery/signature.go.
//   - A column of the export: app/sheet, its name, its width and its cell in sheet.go; and
//     its header in app/statement, fields.go, so that an import doesn't take it for another.
//   - A wait between attempts: RetrySchedule in app/delivery/delivery.go, and the texts that
//     count the attempts: "six" and "sáu".
//   - An answer by which a shop takes a delivery: WebhookKind.Verdict in
//     app/delivery/webhook.go; for a shop made for SePay also sepayRefused in sepay.go; the
//     reason of a failure in explanation.go; the table of the help's sepay-shop.md.
//   - A page: a line in web/dashboard/routes.go, a handler in its noun's file, a
//     template. navigation.go has the navigation. The last column of the table says that a
//     form counts once or holds a file. A step of the guide, and a part of a page that is
//     made elsewhere, are named in routes.go too. The permission in its line decides who may
//     see it: permission.go says what each role has. What several pages use goes into the
//     frame, which uses nothing of a page: the comment of web/dashboard names its files.
//   - A text: where it is used, in both languages: {{.T "…" "…"}} in a template, Text
//     or a function with parameters en and vi in Go. It uses the words of the glossary
//     below; TestTexts refuses rejected words, and two translations of one text. A
//     translator gets all texts as one table, with their places, by
//     "go test ./app/acceptance -run TestTexts -texts /tmp/texts.tsv".
//   - A form of the tax law that changes: another entry in app/book/forms.json with the day from
//     which it is valid. A kind of money that is no revenue: app/book/mark.go.
//   - A page of the help: a file in web/dashboard/help/vi and one in en, with the
//     same headings and links, and a link to it from first-hour.md. Names from the
//     dashboard are in italics: a test compares them.
//   - A command: app/command, its noun's file, listed in command.go if the noun is
//     new. It has an example in its help, and a line in lostOutputs (stdout_test.go),
//     which says what happens if its output can't be written. A flag with a few values
//     is a terminal.Choice; a command that may take over a second has a terminal.Progress.
//   - A table or a column: a new script in sqlitestore/migration (a released script never
//     changes). "go test ./sqlitestore -run TestReleasedSchema -update" then writes its
//     result: migration/digests, and in testdata/schema its sum, a file and the file's key.
//     fillEveryTable (released_test.go) puts a row into a new table. A table that can be made
//     from others again is one of derivedTables; any other is named in TestKeptTables
//     (derived_test.go). The SQL is in the noun's file: a column is in its list of columns, in
//     the scan and in the struct. A query that no rule decides goes into the Records of its
//     room, others into its Store.
//   - A thing that needs attention, and its alert: a kind and its page in app/alert/attention.go,
//     its words (Name, Text, Action) there, in incoming.go or outgoing.go, and, if there
//     are alerts about it, alert.Kinds and alertNames in alert.go.
//     attentionTakes in web/dashboard/attention.go says who sees it besides owners.
//
// # Glossary
//
// The word in parentheses is that of the Vietnamese pages, where people see the noun.
// English pages use the noun itself.
//
//   - Account: a customer of the service; everything else belongs to one.
//   - Plan: how many bank accounts an account may link, and until when.
//   - User (người dùng): a person who signs in to the dashboard of an account.
//     Role (vai trò): what a user may do: owner (chủ cửa hàng), accountant (kế
//     toán), developer (lập trình viên) or cashier (thu ngân). Session: a browser in
//     which a user is signed in; in app/command, the open file of one command.
//   - Limit (giới hạn): the bank accounts that an accountant or a cashier sees, where an
//     owner doesn't let them see all. It travels in the context. TestEveryReadIsLimitedOrNot
//     asks of each query of a store whether it reads within the limit.
//   - Second factor (bước xác thực thứ hai): what a user has besides the password: an
//     authenticator app (ứng dụng xác thực) or a passkey, and recovery codes (mã khôi
//     phục). Halfway: the password was right, the second factor is still asked for.
//   - APIKey (khoá API): the credential of the management API. Scope: what a key
//     may do, full or read.
//   - BankAccount (tài khoản ngân hàng): a linked account at a bank, named by
//     bank code and number.
//   - ReceivingNumber (số nhận tiền): another number to which customers pay a bank account,
//     such as the virtual account of a till. Content prefix: the text with which contents must begin.
//   - Transaction (giao dịch): one movement of money, IN or OUT, in whole VND.
//   - Source (nguồn giao dịch, nguồn on pages about it): one provider account
//     from which transactions come in: a kind of provider, one way of
//     authenticating, one secret.
//   - inbound.Event (lần nhận; in English a call): one authenticated call of a
//     source, its raw body kept; or a page of its list.
//   - Catch up: to read a provider's list of transactions, for the calls that
//     never came. Poll: to read one page of it. Progress: how far it is read.
//   - inbound.Item (giao dịch cần xử lý): an element of such a call that needs
//     somebody's attention: unassigned, rejected or in conflict.
//   - Provider (nhà cung cấp): the company behind a source. Refused call (lần gọi
//     bị từ chối): one that wasn't authenticated; nothing of it is kept but the
//     reason.
//   - Mã baoco is the id of a transaction, mã giao dịch its number at the bank,
//     mã của nguồn the id that its source gave it.
//   - inbound.Element: one transaction that such a call names, with its outcome.
//     The body is read again when somebody looks at the event.
//   - Figures: the numbers that Prometheus reads. Meter: counts them. Heartbeat: a call
//     of an operator's address every minute while all is well. Beat: a sign that the
//     writer isn't hanging; in a file with a replica, a number and a time.
//   - Audit log (nhật ký thao tác): who did what, when, from where and how. Actor: who
//     does it; it travels in the context. Deed: what was done; package audit has a
//     sentence for each deed, and words for each field of a change.
//     TestEveryWriteIsAuditedOrNot asks of each method of a store whether its writes are
//     audited.
//   - Payer (người chuyển): whoever made a transfer, by the name that a bank wrote into its
//     content; no proof of who it was. Refund (hoàn tiền): money out that gives money in
//     back, as somebody confirmed; net is money in without it.
//   - Note (ghi chú): what somebody of the shop wrote about a transaction. Balance
//     (số dư): what a provider said was on a bank account after a transaction;
//     nothing is calculated.
//   - Revenue (doanh thu): money in, except what a mark (đánh dấu) of a person, or a rule (quy
//     tắc), says is something else. Book (sổ): a form of the law for a period, computed whenever
//     somebody asks. Closing (chốt sổ): the books no longer change up to a day. Late: recorded
//     after the books of its time were closed. Opening balance (số dư đầu kỳ).
//   - DayBook (sổ ngày): what came in and went out on one day. Report (báo cáo): what came in
//     and went out on some days, beside the days before. Report of the day (sổ ngày lúc đóng cửa):
//     the message about a day that a channel gets at closing time.
//   - Code (mã thanh toán): a payment code, which the customer writes into the content of
//     a transfer: it says which order the money is for. CodePattern (mẫu mã): how the
//     codes of an account look: a prefix and what follows it.
//   - payment.Request (yêu cầu thanh toán): an amount that somebody is asked to transfer
//     under a code. Its reference (mã đơn) is the shop's own word for it. To match (ghép):
//     to find the request that money in is for; a payment.Transfer is such money. Unmatched
//     money (tiền chưa ghép) has no request. Distinct amount (số tiền riêng): an amount that no other open request has.
//   - Till (thu tiền): the screen on which a cashier makes a bill. Bill (đơn): a
//     payment request of a shift. Shift (ca): the time in which a cashier takes money.
//     Verdict: what money in means for the people at the counter: full, short, to be checked, small.
//   - Webhook (webhook): a URL of the shop that gets a delivery for each
//     transaction.
//   - Delivery (thông báo): one transaction to one webhook: the row of the queue.
//   - Attempt (lần gửi): one HTTP call of a delivery: the history record. People
//     see of a delivery whether the shop is notified (đã báo), will be notified
//     again (chờ báo lại) or could not be (chưa báo được). Codes and times stand
//     on the delivery's own page.
//   - Outgoing: a delivery with all that one attempt needs.
//   - Request: the URL, headers and body that an attempt sends.
//   - Stream (luồng giao dịch, luồng on pages about it): a topic of a broker that gets a
//     message (tin) for each transaction. Broker (máy chủ nhận luồng): NATS JetStream or
//     Kafka. Topic: one of Kafka, or a subject of NATS. Position (vị trí): the
//     transaction up to which a stream has sent all.
//   - EventStream (luồng sự kiện): a lasting answer of server-sent events: a live page, a
//     counter screen, the transactions for a program. Feed: reads what is new, once for all
//     event streams.
//   - Health: how the attempts of a webhook went in the last 24 hours, and how
//     many have failed since the last that succeeded.
//   - Explanation: why an attempt failed and what to do, for people. It follows
//     from the class of the error and its Cause.
//   - Attention (việc cần xử lý): one thing that somebody must look at. Alert: a
//     message about it outside the dashboard. alert.Channel: where alerts go.
//     PaymentFeed: a channel's messages about every payment, where that is switched on.
//     Condition: the state of an Attention in a channel: since when it lasts, and when the
//     channel sent it. Phone (điện thoại): a browser of a user that rings, by Web Push.
//     Push: one message to it.
//   - CounterLink (đường dẫn màn hình quầy): opens the counter screen on a shop's
//     tablet, which shows money in and nothing else.
//   - Passkey (passkey, khoá đăng nhập): a key on a phone, computer or security key of
//     a user that signs in by itself, after its owner has unlocked it.
//   - Device: a browser in which a user has signed in before. Wrong passwords
//     that are entered elsewhere don't lock it out.
//   - Backup (bản sao lưu): a complete, verified copy of the database, with its
//     key or without. To restore: to put a backup in the place of the database.
//   - Check: one thing that the doctor looks at in an installation. Lost secret:
//     one that the key no longer opens; somebody must rotate it.
//   - Import: a statement file from which transactions were recorded. To undo an
//     import: to remove its transactions, except those that a shop was notified of.
//   - Prune: to remove old rows that may go. Reclaim: to give free space inside
//     the file back to the disk.
//   - Replica (bản sao ngoài máy): a copy of the file in a place away from the machine,
//     which Litestream writes every second. Place: where the replica lies, a URL without
//     secrets. Credentials: what opens the place. Epoch: the time in which one server serves;
//     the replica lies in a directory of the epoch's number. Fence: stops a server with an
//     older epoch. Takeover: to restore a replica on another machine, in the next epoch.
//   - Secret (khoá bí mật), Signature (chữ ký), Checksum: what a webhook's
//     deliveries are signed with; the digest of a body; the digest of one
//     transaction in it.
//   - SignatureFacts: what an account knows of a call whose signature a receiver refuses.
//     Package verify judges them.
//   - Shortage: too few open files, too little memory or no free ports on this machine for
//     an attempt. The attempt is put off and not counted.
//   - RetrySchedule: the waits before the six attempts of a delivery.
//   - Courier: makes the attempts of due deliveries, in scheduler/courier.
//     Slot: a place for one attempt in flight; their number is bounded.
//   - Due: a pending delivery whose time has come. In flight: being attempted
//     now. Settle: to record an attempt and its result for the delivery. Sweep: to
//     look for due deliveries. Resend: a new delivery of a history record's
//     payload. Replay: resends of many. Send now: to make a pending
//     delivery due at once.
//
// # Habits
//
// Time is an argument: use cases take now, and nothing in this package reads
// the clock. Amounts are int64 VND. Instants are time.Time; a [Day] is a
// calendar day in the zone of the installation. Errors that a caller can act
// upon are an [*Error] with a [Code]; any other error is internal and its text
// never leaves the process.
package app
