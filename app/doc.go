// Package app holds the vocabulary and the rules of baoco: what a bank
// transaction notification service is, free of HTTP, of SQL and of clocks.
//
// Every noun has a file of its own, read from top to bottom: the type, its
// rules, and the use cases of [Service]. What is remembered stands in two
// files: reader.go has what everybody may ask and change ([Reader], [Writer]),
// store.go what the use cases need beside it ([Store]). The other packages
// translate (web), remember (sqlitestore) and deliver (scheduler); none of them
// decides.
//
// # Glossary
//
//   - Account: a customer of the service; everything else belongs to one.
//   - Plan: how many bank accounts an account may link, and until when.
//   - APIKey: the credential of the management API, with a scope.
//   - BankAccount: a linked account at a bank, named by bank code and number.
//   - Transaction: one movement of money, IN or OUT, in whole VND.
//   - Source: one provider account from which transactions come in: a kind of
//     provider, one way of authenticating, one secret.
//   - InboundEvent: one authenticated call of a source, its raw body kept; or a
//     page of its list.
//   - Catch up: to read a provider's list of transactions, for the calls that
//     never came. Poll: to read one page of it. Progress: how far it is read.
//   - InboundItem: an element of such a call that needs somebody's attention:
//     unassigned, rejected or in conflict.
//   - InboundElement: one transaction that such a call names, as its body is
//     read again when somebody looks, with what became of it.
//   - Webhook: a URL of the shop's that is told of transactions.
//   - Delivery: one transaction to one webhook: the row of the queue.
//   - Attempt: one HTTP call of a delivery: the history record.
//   - Request: what an attempt sends, as far as it follows from the delivery.
//   - Health: how the attempts of a webhook went in the last 24 hours, and how
//     many have failed since the last that succeeded.
//   - Explanation: why an attempt failed and what to do, for people. It comes
//     of the class of the error and its Cause.
//   - Attention: one thing that needs somebody. Alert: to tell the owners of it
//     outside the dashboard. AlertChannel: where they are told. Condition: what
//     a channel knows of such a thing: since when, and whether it was told.
//   - CounterLink: what opens the counter screen, money in and nothing else, on
//     a shop's tablet.
//   - Device: a browser in which a user has signed in before. What others guess
//     doesn't keep it out.
//   - Backup: a copy of the database that is known to be whole, with its key or
//     without. To restore: to put it in the place of the database.
//   - Check: one thing that a doctor looks at in an installation. Lost secret:
//     one that the key doesn't open any more; somebody must rotate it.
//   - Import: a statement file that transactions were recorded of. To undo one:
//     to remove those of them that nobody was told of.
//   - Prune: to remove what is old and may go. Reclaim: to give the room that is
//     free in the file back to the disk.
//   - Secret, Signature, Checksum: what a webhook's deliveries are signed
//     with; the digest of a body; the digest of one transaction in it.
//   - SignatureFacts: what an account knows of a call whose signature a receiver
//     doesn't find right. Package verify judges them.
//   - Shortage: something that this machine lacks for an attempt, such as files.
//     Then it isn't one.
//   - RetrySchedule: the waits before the six attempts of a delivery.
//   - Due: a pending delivery whose time has come. In flight: being attempted
//     now. Settle: to record an attempt and what follows from it. Sweep: to
//     look for due deliveries. Resend: a new delivery of a history record's
//     payload. Replay: resends of many.
//
// # Habits
//
// Time is an argument: use cases take now, and nothing in this package asks
// for the clock. Amounts are int64 VND. Instants are time.Time; a [Day] is a
// calendar day in the zone of the installation. Errors that a caller can act
// upon are an [*Error] with a [Code]; any other error is internal and its text
// never leaves the process.
package app
