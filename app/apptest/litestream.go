package apptest

import (
	"testing"

	"baoco/app/replica"
)

// Litestream is the program, that of PATH or one that is built.
func Litestream(t testing.TB) replica.Program {
	t.Helper()
	program, err := replica.FindProgram(t.Context(), Program(t, "litestream", "github.com/benbjohnson/litestream/cmd/litestream@v0.5.18"))
	Must(t, err)
	return program
}
