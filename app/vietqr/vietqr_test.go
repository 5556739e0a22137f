package vietqr_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"baoco/app/vietqr"
)

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("../../testdata/vietqr/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		BIN, Acc, Service, Content, Expect string
		Amount                             int64
	}
	if err := json.Unmarshal(data, &vectors); err != nil || len(vectors) == 0 {
		t.Fatal(err, len(vectors))
	}
	for _, v := range vectors {
		got, err := vietqr.Transfer{BIN: v.BIN, Account: v.Acc, Service: v.Service, Amount: v.Amount, Content: v.Content}.String()
		if err != nil || got != v.Expect {
			t.Errorf("%+v\ngot  %s %v\nwant %s", v, got, err, v.Expect)
		}
	}
}

func TestChecksumKeepsLeadingZeros(t *testing.T) {
	zeros := 0
	for n := range int64(500) {
		text, err := vietqr.Transfer{BIN: "970416", Account: "1", Amount: n + 1}.String()
		if err != nil {
			t.Fatal(err)
		}
		check := text[strings.LastIndex(text, "6304")+4:]
		if len(check) != 4 || strings.ToUpper(check) != check {
			t.Fatalf("checksum %q", check)
		}
		if check[0] == '0' {
			zeros++
		}
	}
	if zeros == 0 {
		t.Error("no code had a leading zero: the test shows nothing")
	}
}

func TestRefused(t *testing.T) {
	for _, content := range []string{"thanh toán", "a\nb", strings.Repeat("x", 96)} {
		if _, err := (vietqr.Transfer{BIN: "970416", Account: "1", Content: content}).String(); !errors.Is(err, vietqr.ErrContent) {
			t.Errorf("%q: %v", content, err)
		}
	}
	for _, bad := range []vietqr.Transfer{{BIN: "9704", Account: "1"}, {BIN: "970416"}, {BIN: "970416", Account: "1", Amount: -1}} {
		if _, err := bad.String(); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

func TestBlocks(t *testing.T) {
	code, err := vietqr.Code("00020101021138")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(vietqr.Blocks(code), "\n"), "\n")
	if want := (code.Size + 5) / 2; len(lines) != want {
		t.Errorf("%d lines for %d rows, want %d", len(lines), code.Size, want)
	}
	for _, line := range lines {
		if n := len([]rune(line)); n != code.Size+4 {
			t.Errorf("a line of %d, want %d", n, code.Size+4)
		}
	}
}
