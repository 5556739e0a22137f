// Package statement reads the statement files of Vietnamese banks, and any
// other table of transactions, into [inbound.Incoming]s: CSV and Excel, a row at a
// time, whatever the number of rows.
//
// A file becomes rows in this order:
//
//   - import.go runs an import: it reads the file to its end, and then records
//     its rows batch by batch; preview.go shows its first lines to a person;
//   - statement.go opens the file, which package sheet makes cells of, and returns its rows; refuse.go has the errors
//     of a file that isn't read;
//   - header.go finds the heading of the table and what each column holds, fields.go has
//     the words for each field, columnmap.go places the columns that a person names;
//   - account.go and currency.go read the lines around the table;
//   - row.go tells transactions from all other lines, transaction.go makes a
//     transaction of a line, with amount.go and date.go;
//   - certain.go refuses what could turn money round, difference.go compares the rows
//     with the balances and totals in the file, and tells what its sheet hides.
//
// Refused is only what could turn money round: a file that doesn't say, or says in two
// ways, which direction, amount, currency or account its rows have. [Import.Run] finds it
// before a row is recorded. Where a file doesn't agree with its own balances and totals, or
// hides something, a person sees it and decides.
//
// Money comes first. A row that holds money and can't be read has a fault and is
// reported, never left out. A damaged file is an error where the damage is, not
// an early end. An amount is never rounded, guessed or 0 by accident. Everything
// else may be missing.
package statement
