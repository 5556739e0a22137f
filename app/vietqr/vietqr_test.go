package vietqr_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"baoco/app/vietqr"
)

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("../../testdata/vietqr/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		BIN, Acc, Content, Expect string
		Amount                    int64
	}
	if err := json.Unmarshal(data, &vectors); err != nil || len(vectors) == 0 {
		t.Fatal(err, len(vectors))
	}
	for _, v := range vectors {
		got, err := vietqr.Transfer{BIN: v.BIN, Account: v.Acc, Amount: v.Amount, Content: v.Content}.String()
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

// The SVG shows the same modules as the code, and another program reads from it and from
// the PNG the text that was coded.
func TestDrawings(t *testing.T) {
	zbarimg, missing := exec.LookPath("zbarimg")
	var reading sync.WaitGroup // of pictures by zbarimg, each of which takes a while to start
	defer reading.Wait()
	for i, text := range []string{vietqrText(t, 0, ""), vietqrText(t, 200000, "DH001234"),
		vietqrText(t, 9999999999999, strings.Repeat("x", 95))} {
		code, err := vietqr.Code(text)
		if err != nil {
			t.Fatal(err)
		}
		drawn := rasterized(t, vietqr.SVG(code))
		for y := range drawn.Rect.Dy() {
			for x := range drawn.Rect.Dx() {
				if black := drawn.GrayAt(x, y).Y == 0; black != code.Black(x/scale-4, y/scale-4) {
					t.Fatalf("the SVG of %q differs at %d, %d", text, x, y)
				}
			}
		}
		if missing != nil {
			continue
		}
		var svg bytes.Buffer
		if err := png.Encode(&svg, drawn); err != nil {
			t.Fatal(err)
		}
		for name, picture := range map[string][]byte{"png": code.PNG(), "svg": svg.Bytes()} {
			file := filepath.Join(t.TempDir(), fmt.Sprint(name, i, ".png"))
			if err := os.WriteFile(file, picture, 0o600); err != nil {
				t.Fatal(err)
			}
			reading.Go(func() {
				read, err := exec.Command(zbarimg, "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file).Output()
				if err != nil || strings.TrimSpace(string(read)) != text {
					t.Errorf("zbarimg reads %q from the %s, %v; want %q", read, name, err, text)
				}
			})
		}
	}
	if missing != nil && os.Getenv("BAOCO_CI") != "" {
		t.Fatal(missing)
	}
	if missing != nil {
		t.Skip("zbarimg is missing: no other program has read the codes")
	}
}

func vietqrText(t *testing.T, amount int64, content string) string {
	t.Helper()
	text, err := vietqr.Transfer{BIN: "970436", Account: "0071000888888", Amount: amount, Content: content}.String()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// scale is how many pixels a module has in the picture of an SVG.
const scale = 4

// rasterized draws the paths of an SVG, which are rows of modules.
func rasterized(t *testing.T, svg string) *image.Gray {
	t.Helper()
	var size int
	if _, err := fmt.Sscanf(svg[strings.Index(svg, "viewBox"):], `viewBox="0 0 %d`, &size); err != nil {
		t.Fatal(err)
	}
	picture := image.NewGray(image.Rect(0, 0, size*scale, size*scale))
	for i := range picture.Pix {
		picture.Pix[i] = 255
	}
	for _, row := range regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`).FindAllStringSubmatch(svg, -1) {
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(row[i+1])
		}
		if n[2] != n[3] {
			t.Fatalf("%s isn't closed", row[0])
		}
		for y := n[1] * scale; y < (n[1]+1)*scale; y++ {
			for x := n[0] * scale; x < (n[0]+n[2])*scale; x++ {
				picture.SetGray(x, y, color.Gray{})
			}
		}
	}
	return picture
}

// FuzzTransfer: whatever is coded can be read back, tag by tag, and draws.
func FuzzTransfer(f *testing.F) {
	f.Add("970436", "19354957", int64(200000), "DH10293")
	f.Add("970416", "0", int64(0), "")
	f.Add("970436", strings.Repeat("9", 50), int64(9999999999999), strings.Repeat("x", 95))
	f.Add("97043\xff", "đ", int64(-1), "\x7f")
	f.Add("000000", "6304", int64(1), "6304ABCD")
	f.Fuzz(func(t *testing.T, bin, account string, amount int64, content string) {
		text, err := vietqr.Transfer{BIN: bin, Account: account, Amount: amount, Content: content}.String()
		if err != nil {
			return
		}
		outer := tags(t, text)
		inner := tags(t, outer["38"])
		to := tags(t, inner["01"])
		want := ""
		if amount > 0 {
			want = strconv.FormatInt(amount, 10)
		}
		if to["00"] != bin || to["01"] != account || outer["54"] != want || outer["53"] != "704" || inner["02"] != "QRIBFTTA" {
			t.Errorf("%q reads back as %v, %v, %v", text, outer, inner, to)
		}
		if content != "" && tags(t, outer["62"])["08"] != content {
			t.Errorf("%q: the content is lost", text)
		}
		if _, err := vietqr.Code(text); err != nil {
			t.Errorf("%q can't be drawn: %v", text, err)
		}
	})
}

// tags reads tag, length, value.
func tags(t *testing.T, s string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for len(s) > 0 {
		if len(s) < 4 {
			t.Fatalf("%q is left over", s)
		}
		n, err := strconv.Atoi(s[2:4])
		if err != nil || len(s) < 4+n {
			t.Fatalf("%q is no tag", s)
		}
		if _, twice := found[s[:2]]; twice {
			t.Fatalf("tag %s comes twice", s[:2])
		}
		found[s[:2]], s = s[4:4+n], s[4+n:]
	}
	return found
}
