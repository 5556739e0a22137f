package command

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
	"baoco/sqlitestore"
)

// The command line says why attempts failed and what to do, in the language
// that is asked for, once for all records with the same reason.
func TestWhyAttemptsFailed(t *testing.T) {
	db := apptest.NewFile(t)
	store, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{})
	must(t, err)
	must(t, store.SetAllowTargets(context.Background(), []string{"127.0.0.1/32"}))
	must(t, store.Close())
	t.Setenv("BAOCO_DB", db)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(419) }))
	defer receiver.Close()

	const why = "Your server’s CSRF check"
	for _, step := range []struct {
		command string
		code    int
		want    []string // parts of stdout
		not     string
	}{
		{"webhook create --name shop --url " + receiver.URL + "/hook?key=k --type IN", 0, nil, ""},
		{"delivery pending", 0, []string{"No deliveries are waiting."}, ""},
		{"delivery pending -o json", 0, []string{"[]"}, ""},
		{"webhook test 1", terminal.ExitCheck, []string{"HTTP 419 in ", "\n" + why}, ""},
		{"webhook test 1 -o json", terminal.ExitCheck, []string{`"error_explanation": "` + why}, ""},
		{"webhook test 1", terminal.ExitCheck, []string{"\n" + why}, ""},
		{"delivery list", 0, []string{"HTTP 419", "\n3, 2, 1: " + why}, ""},
		{"delivery list -o json", 0, []string{`"error_explanation": "` + why}, ""},
		{"delivery show 2", 0, []string{"Delivery 2 ", "\n2: " + why}, ""},
		{"delivery show 2 -o json", 0, []string{`"error_explanation": "` + why}, ""},
		{"delivery resend 2 99 3", terminal.ExitConflict,
			[]string{"2 deliveries are queued", "Record 99 is not resent: There is no history record"}, ""},
		{"delivery resend 1 x", terminal.ExitUsage, nil, ""},
		{"delivery resend 1 --type IN", terminal.ExitUsage, nil, ""},
		{"delivery resend --failed 1", terminal.ExitUsage, nil, ""},
		{"delivery resend --failed --type UP", terminal.ExitUsage, nil, ""},
		{"delivery resend --failed --webhook-id 9", terminal.ExitNotFound, nil, ""},
		{"delivery pending --type UP", terminal.ExitUsage, nil, ""},
		{"delivery pending --webhook-id 9", terminal.ExitNotFound, nil, ""},
		{"delivery pending 1", terminal.ExitUsage, nil, ""},
		{"bank link --bank ACB --number 19354957 --name A", 0, nil, ""},
		{"transaction add --amount 20000 --content DH1", 0, nil, ""},
		{"delivery pending", 0, []string{"0/6", "DH1"}, "Nothing"},
		{"delivery pending -o json --q dh1 --type IN", 0,
			[]string{`"description": "DH1"`, `"attempts": 0`, `"paused": false`, `"transaction_id": "1"`, `"due_at": "`}, ""},
		{"delivery send-now 4 99", terminal.ExitConflict, []string{"due now: 1;"}, ""},
		{"delivery send-now 99", terminal.ExitNotFound, nil, ""},
		{"delivery send-now", terminal.ExitUsage, nil, ""},
		{"delivery send-now 1 x", terminal.ExitUsage, nil, ""},
		{"delivery send-now --webhook-id 1 4", terminal.ExitUsage, nil, ""},
		{"delivery send-now --webhook-id 9", terminal.ExitNotFound, nil, ""},
		{"delivery send-now --webhook-id 1 -o json", 0, []string{`"deliveries": 0`}, ""},
		{"delivery pending --type OUT", 0, []string{"No deliveries are waiting."}, ""},
		{"delivery resend --failed -o json", 0, []string{`"deliveries": 0`, `"refused": []`, `"more": false`}, ""},
		{"delivery list --lang vi", terminal.ExitUsage, nil, why},
		{"webhook test 1 --lang vi", terminal.ExitUsage, nil, why},
	} {
		code, stdout, stderr := baoco("", words(step.command)...)
		if code != step.code || step.not != "" && strings.Contains(stdout, step.not) {
			t.Errorf("$ %s: exit %d, want %d\n%s%s", step.command, code, step.code, stdout, stderr)
		}
		for _, part := range step.want {
			if !strings.Contains(stdout, part) {
				t.Errorf("$ %s: want %q in\n%s", step.command, part, stdout)
			}
		}
	}
	// What was delivered meanwhile needs no advice.
	apptest.Exec(t, db, `UPDATE attempts SET delivery_id = (SELECT max(id) FROM deliveries) WHERE id = 2`)
	if _, stdout, _ := baoco("", "delivery", "list"); !strings.Contains(stdout, "3, 2, 1: "+why) {
		t.Errorf("of a delivery that waits:\n%s", stdout)
	}
	apptest.Exec(t, db, `UPDATE deliveries SET state = 1, due_ms = NULL WHERE id = (SELECT max(id) FROM deliveries)`)
	if _, stdout, _ := baoco("", "delivery", "list"); !strings.Contains(stdout, "3, 1: "+why) ||
		!strings.Contains(stdout, "\n2: Failed, but delivered since: there is nothing to do.\n") {
		t.Errorf("of one that is delivered:\n%s", stdout)
	}
	// The variable is of serve alone.
	t.Setenv("BAOCO_LANG", "vi")
	if _, stdout, _ := baoco("", "delivery", "list"); !strings.Contains(stdout, why) {
		t.Errorf("with BAOCO_LANG=vi:\n%s", stdout)
	}
}
