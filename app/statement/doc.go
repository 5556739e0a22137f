// Package statement reads the statement files of Vietnamese banks, and any
// other table of transactions, into [inbound.Incoming]s: CSV and Excel, a row at a
// time, whatever the number of rows.
//
// A file becomes rows in this order:
//
//   - import.go runs an import: it reads the file to its end, and then records
//     its rows batch by batch; preview.go shows its first lines to a person;
//   - statement.go opens the file by package sheet, and returns its rows; refuse.go has the
//     errors of files that aren't read;
//   - header.go finds the heading of the table and what each column holds, fields.go has
//     the words for each field, columnmap.go places the columns that a person names;
//   - account.go and currency.go read the lines around the table;
//   - row.go tells transactions from all other lines, transaction.go makes a
//     transaction of a line, with amount.go and date.go;
//   - certain.go refuses files whose amounts could be read with the wrong direction or size,
//     difference.go compares the rows with the balances and totals in the file, and reports
//     what its sheet hides.
//
// A file is refused only if its rows could be read wrongly: it doesn't say, or says in two
// ways, which direction, amount, currency or account they have. [Import.Run] finds this
// before a row is recorded. If a file doesn't agree with its own balances and totals, or
// hides something, a person sees the differences and decides.
//
// A row that holds money and can't be read has a fault and is reported, never left out. A
// damaged file is an error at the damaged place, not an early end. An amount is never
// rounded, guessed or 0 by accident. Every other field may be missing.
package statement
