package apptest

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"baoco/app"
	"baoco/app/inbound"
)

// This file signs calls like the providers that sign fields, with encoding/json and
// without package provider.

// SignedCall makes a call of a source that signs fields: fields is the JSON of
// the object that is signed. ok is false if it can't be signed.
func SignedCall(s inbound.Source, fields string) (body string, header []string, ok bool) {
	var v map[string]any
	if err := json.Unmarshal([]byte(fields), &v); err != nil || v == nil {
		return "", nil, false
	}
	switch s.Provider {
	case "casso-v2":
		mac := hmac.New(sha512.New, []byte(s.Secret))
		fmt.Fprintf(mac, "1760414370123.%s", jsJSON(v))
		return fields, []string{"X-Casso-Signature", "t=1760414370123,v1=" + hex.EncodeToString(mac.Sum(nil))}, true
	case "payos":
		text, ok := payOSText(v)
		return fmt.Sprintf(`{"code":"00","success":true,"data":%s,"signature":%q}`, fields, HexHMAC(s.Secret, text)), nil, ok
	case "pay2s-ipn":
		text := "accessKey=" + s.Options.AccessKey
		for _, key := range []string{
			"amount", "extraData", "message", "orderId", "orderInfo", "orderType", "partnerCode", "payType", "requestId", "responseTime",
			"resultCode", "transId",
		} {
			text += "&" + key + "=" + asText(v[key])
		}
		rest := strings.TrimPrefix(strings.TrimSpace(fields), "{")
		if len(v) > 0 {
			rest = "," + rest
		}
		return fmt.Sprintf(`{"m2signature":%q%s`, HexHMAC(s.Secret, text), rest), nil, true
	}
	panic("signs no fields: " + s.Provider)
}

// payOSText returns data in the form that payOS signs; ok is false if payOS can't sign it.
func payOSText(data map[string]any) (text string, ok bool) {
	var pairs []string
	for _, key := range jsKeys(data) {
		value := asText(data[key])
		if list, isList := data[key].([]any); isList {
			for _, item := range list {
				if _, isObject := item.(map[string]any); !isObject {
					return "", false
				}
			}
			value = jsJSON(list) // it also sorts objects in objects, which payOS doesn't
		} else if value == "null" || value == "undefined" {
			value = ""
		}
		pairs = append(pairs, key+"="+value)
	}
	return strings.Join(pairs, "&"), true
}

func asText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any:
		return "[object Object]"
	}
	return jsJSON(v)
}

// jsJSON returns JSON.stringify of v with sorted keys.
func jsJSON(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		b, _ := json.Marshal(v + 0)
		return strings.TrimPrefix(string(b), map[bool]string{true: "-"}[v == 0])
	case string:
		return jsQuoted(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = jsJSON(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var parts []string
		for _, key := range jsKeys(v) {
			parts = append(parts, jsQuoted(key)+":"+jsJSON(v[key]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	panic(v)
}

func jsQuoted(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}
	var b strings.Builder
	for _, char := range s {
		switch escape := short[char]; {
		case escape != "":
			b.WriteString(escape)
		case char < ' ':
			fmt.Fprintf(&b, `\u%04x`, char)
		default:
			b.WriteRune(char)
		}
	}
	return `"` + b.String() + `"`
}

// jsKeys returns the sorted keys of an object. None of them may be a number.
func jsKeys(v map[string]any) []string {
	return slices.SortedFunc(maps.Keys(v), func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) })
}

// SignedFields are the fields of one payment, as each provider that signs fields
// names them.
var SignedFields = map[app.Provider]string{
	"casso-v2": `{"error":0,"data":{"id":7,"reference":"FT7","description":"DH7","amount":5000,"transactionDateTime":"2025-10-14 10:59:30"` +
		`,"accountNumber":"19354957","bankAbbreviation":"ACB"}}`,
	"payos": `{"orderCode":7,"amount":5000,"description":"DH7","accountNumber":"19354957","reference":"FT7"` +
		`,"transactionDateTime":"2025-10-14 10:59:30","currency":"VND","paymentLinkId":"abc","code":"00","desc":"ok"}`,
	"pay2s-ipn": `{"partnerCode":"P","orderId":"DH7","requestId":"1","amount":"5000","orderInfo":"DH7","orderType":"pay2s","transId":"7"` +
		`,"resultCode":"0","message":"ok","payType":"qr","responseTime":"1760414370","extraData":""}`,
}

// Header makes a header of pairs of name and value.
func Header(pairs []string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}
