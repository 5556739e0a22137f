package acceptance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a provider has told is known when it stands in a file, and the other
// way round.
func TestImportAndCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "0072413870", "--name", "CTY AN BINH")
	var source createdSource
	must(t, json.Unmarshal([]byte(do(t, dir, "source", "add", "--provider", "sepay", "--auth", "apikey", "--name", "SePay", "-o", "json")),
		&source))
	call := func(id int, number string, amount int, want string) {
		t.Helper()
		body := fmt.Sprintf(`{"id":%d,"gateway":"ACB","transactionDate":"2026-11-02 08:00:00","accountNumber":"0072413870","content":"x"`+
			`,"transferType":"in","transferAmount":%d,"referenceCode":%q}`, id, amount, number)
		request, err := http.NewRequest("POST", p.url+source.URLPath, strings.NewReader(body))
		must(t, err)
		request.Header.Set("Authorization", "Apikey "+source.Secret)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		defer response.Body.Close()
		var answer map[string]any
		must(t, json.NewDecoder(response.Body).Decode(&answer))
		if response.StatusCode != 200 || answer[want] != 1.0 {
			t.Errorf("call %d: %d %v, want %s", id, response.StatusCode, answer, want)
		}
	}
	call(1, "FT1", 5000, "recorded")
	must(t,
		os.WriteFile(filepath.Join(dir, "a.csv"),
			[]byte("Số tài khoản:,0072413870,,,\nNgày giao dịch,Số GD,Nội dung giao dịch,Số tiền rút ra,Số tiền gửi vào\n"+
				"02/11/2026,FT1,x,,5.000\n03/11/2026,FT2,y,,7.000\n"), 0o600))
	var imported struct{ Rows, Recorded, Duplicates, Rejected, Deliveries int }
	must(t, json.Unmarshal([]byte(doIn(t, dir, "transaction", "import", "a.csv", "-o", "json")), &imported))
	if imported.Rows != 2 || imported.Recorded != 1 || imported.Duplicates != 1 || imported.Rejected != 0 || imported.Deliveries != 0 {
		t.Errorf("imported %+v", imported)
	}
	call(2, "FT2", 7000, "duplicates")
	call(3, "FT2", 7001, "recorded")
	var all []any
	must(t, json.Unmarshal([]byte(do(t, dir, "transaction", "list", "-o", "json")), &all))
	if len(all) != 3 {
		t.Errorf("%d transactions, want 3: %v", len(all), all)
	}
}
