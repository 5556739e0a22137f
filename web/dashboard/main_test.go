package dashboard_test

import (
	"os"
	"testing"

	"baoco/app/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.RunTests(m, 4)) }
