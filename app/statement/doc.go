// Package statement reads the statement files of Vietnamese banks, and any
// other table of transactions, into [app.Incoming]s: CSV and XLSX, a row at a
// time, whatever the number of rows. Only the texts that a workbook shares among
// its cells are held in memory, up to 64 MiB.
//
// A file becomes rows in this order:
//
//   - statement.go opens the file and hands its rows out; refuse.go says what
//     to do with one that isn't read;
//   - table.go is a file as lines of cells. Bytes become cells in csv.go and
//     encoding.go, or in workbook.go, xlsx.go, xlsxpart.go and sharedstrings.go;
//   - header.go finds the header and what each column holds, stacked.go reads
//     one that goes over several rows, fields.go has the words for it;
//   - layout.go knows the layouts of the banks, account.go finds the account
//     number in the lines around a table;
//   - row.go tells transactions from everything else, with amount.go and
//     date.go; transaction.go and direction.go make one of a line, skipped.go
//     says why another isn't one;
//   - follow.go compares each with what the file says of it: unit.go finds the
//     currency, claims.go the balances and totals around the rows, and
//     reconcile.go follows them.
//
// What isn't understood is refused, not read around: a file whose columns,
// currency, numbers, balances or totals can be read in two ways, or don't agree,
// is an error that says where, and [Check] finds it before a row is recorded.
//
// Money comes first. A row that holds money and can't be read is a fault, not
// a row less; a file that is damaged is an error where the damage is, not an
// early end. An amount is never rounded, guessed or 0 by accident. Everything
// else may be missing.
package statement
