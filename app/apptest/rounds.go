package apptest

import (
	"os"

	"baoco/app/password"
	"baoco/app/replica"
)

// Full says whether the tests that repeat what they do (kills, power cuts,
// errors of the disk, random filters) do all their rounds: BAOCO_FULL=1 asks for
// that, as .ci/proofs does. Without it they do a few.
func Full() bool { return os.Getenv("BAOCO_FULL") == "1" }

// Rounds is how often a test repeats what it does: full with BAOCO_FULL=1,
// few without it.
func Rounds(few, full int) int {
	if Full() {
		return full
	}
	return few
}

// CheapSecrets has passwords hashed and keys sealed in no time: a password takes 40 ms
// else, and a sealed key a second. With BAOCO_FULL=1 they cost what they cost in a shop.
func CheapSecrets() {
	if !Full() {
		password.Memory, replica.KeyMemory = 64, 64
	}
}
