//go:build 386 || arm

package acceptance_test

import "testing"

func (*disk) mount(t testing.TB) string {
	t.Skip("the library for FUSE doesn't compile for 32 bits")
	return ""
}
