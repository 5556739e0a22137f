package app

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// banks.tsv lists the members of NAPAS: code, BIN, short name, name, aliases.
//
//go:embed banks.tsv
var banksTSV string

// Bank is a bank of Vietnam.
type Bank struct {
	Code, BIN, ShortName, Name string
}

// Is reports whether code names this bank, by its present code or a former one:
// a bank that changed its name kept its BIN.
func (b Bank) Is(code string) bool {
	other, known := FindBank(code)
	return known && (other.Code == b.Code || other.BIN == b.BIN)
}

var bankTable = sync.OnceValue(func() map[string]Bank {
	banks := map[string]Bank{}
	var rows [][]string
	for i, line := range strings.Split(strings.TrimSpace(banksTSV), "\n") {
		columns := strings.Split(line, "\t")
		if i == 0 || len(columns) < 4 {
			continue
		}
		rows = append(rows, columns)
		banks[bankKey(columns[0])] = Bank{columns[0], columns[1], columns[2], columns[3]}
	}
	// A code names its bank whatever another bank's alias says, and a short
	// name goes before an alias.
	for _, names := range []func([]string) []string{shortNames, aliases} {
		for _, columns := range rows {
			for _, name := range names(columns) {
				if _, taken := banks[bankKey(name)]; !taken && name != "" {
					banks[bankKey(name)] = banks[bankKey(columns[0])]
				}
			}
		}
	}
	return banks
})

func shortNames(columns []string) []string { return columns[2:3] }

func aliases(columns []string) []string {
	if len(columns) < 5 {
		return nil
	}
	return strings.Split(strings.TrimSpace(columns[4]), ",")
}

// bankKey is the form in which names are compared: letters and digits in lower
// case, so that "MB Bank" and "mbbank" are equal.
func bankKey(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
}

// Banks lists the banks by their short names. All get the same list: nobody changes it.
var Banks = sync.OnceValue(func() []Bank {
	var list []Bank
	for _, b := range bankTable() {
		if !slices.Contains(list, b) {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b Bank) int {
		return strings.Compare(strings.ToLower(a.ShortName), strings.ToLower(b.ShortName))
	})
	return list
})

// FindBank finds a bank by its code or by a name that providers use for it.
func FindBank(name string) (Bank, bool) {
	bank, ok := bankTable()[bankKey(name)]
	return bank, ok
}

// BankShortName is what people call the bank of a code.
func BankShortName(code string) string {
	if bank, found := FindBank(code); found {
		return bank.ShortName
	}
	return code
}
