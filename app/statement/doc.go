// Package statement reads the statement files of Vietnamese banks, and any
// other table of transactions, into [inbound.Incoming]s: CSV and XLSX, a row at a
// time, whatever the number of rows. Only the texts that a workbook shares among
// its cells are held in memory, up to 64 MiB.
//
// A file becomes rows in this order:
//
//   - import.go runs an import: it reads the file to its end, and then records
//     its rows batch by batch;
//   - statement.go opens the file and returns its rows; refuse.go has the errors
//     of a file that isn't read;
//   - table.go is a file as lines of cells. csv.go makes cells of a text file,
//     workbook.go, worksheet.go and xmlpart.go make them of a workbook;
//   - header.go finds the header row and what each column holds, headername.go
//     reads a header that goes over several rows, fields.go has the words for
//     each field, columnmap.go places the columns that a person names;
//   - layout.go knows the layouts of the banks, account.go finds the account
//     number in the lines around the table;
//   - line.go tells transactions from all other lines, with amount.go and
//     date.go; transaction.go makes a transaction of a line;
//   - check.go compares each transaction with what the file says elsewhere:
//     currency.go finds the currency, summary.go the balances and totals around
//     the rows, reconcile.go follows them; numberformat.go and companyledger.go
//     find files whose amounts would be read wrongly.
//
// A file that isn't understood is refused, not read around: a file whose
// columns, currency, numbers, balances or totals can be read in two ways, or
// don't agree, is an error that names the line, and [Import.Run] finds it before
// a row is recorded.
//
// Money comes first. A row that holds money and can't be read has a fault and is
// reported, never left out. A damaged file is an error where the damage is, not
// an early end. An amount is never rounded, guessed or 0 by accident. Everything
// else may be missing.
package statement
