// Package statement reads the statement files of Vietnamese banks, and any
// other table of transactions, into [app.Incoming]s: CSV and XLSX, a row at a
// time, whatever the size of the file.
//
// A file becomes rows in this order, a file of the package each:
//
//   - statement.go opens the file and hands its rows out;
//   - csv.go, encoding.go and xlsx.go, sharedstrings.go make cells of bytes;
//   - header.go finds the header row and what each column holds, fields.go
//     has the words for it;
//   - layout.go knows the layouts of the banks, account.go finds the account
//     number in the lines around a table;
//   - row.go tells transactions from everything else and makes a transaction
//     of a row, with amount.go and date.go.
//
// Money comes first. A row that holds money and can't be read is a fault, not
// a row less; a file that is damaged is an error where the damage is, not an
// early end. An amount is never rounded, guessed or 0 by accident. Everything
// else may be missing.
package statement
