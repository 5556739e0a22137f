package api

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/exactjson"
	"baoco/web/wire"
)

// fields reads the members of a request body, and collects their faults: unknown members,
// members that come twice, and members of a wrong type.
type fields struct {
	body  exactjson.Value
	known []string
	bad   app.Invalid
}

func (q *Request) fields(known ...string) (*fields, error) {
	f := &fields{body: q.body, known: known}
	if len(q.raw) > 0 && q.body.Kind != exactjson.Object {
		return nil, app.InvalidField("body", "must be a JSON object", "phải là một đối tượng JSON")
	}
	seen := map[string]bool{}
	for _, m := range q.body.Members {
		switch {
		case !slices.Contains(known, m.Key):
			f.bad.Add(app.CleanText(m.Key, 100), "is not a known field", "không phải trường hợp lệ")
		case seen[m.Key]:
			f.bad.Add(m.Key, "is given twice", "bị lặp lại")
		}
		seen[m.Key] = true
	}
	return f, nil
}

// asSent names a fault of bank_account_id as bank_account_ids if the request has the list
// instead, and so for other fields: the rules know only one name for both.
func (f *fields) asSent(err error) error {
	var e *app.Error
	if !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Fields = slices.Clone(e.Fields)
	for i, fault := range named.Fields {
		if list := fault.Field + "s"; slices.Contains(f.known, list) && f.body.Get(fault.Field).Kind == exactjson.Null {
			named.Fields[i].Field = list
		}
	}
	return &named
}

// optional reads a string; nil: it is missing or null.
func (f *fields) optional(name string) *string {
	v := f.body.Get(name)
	if v.Kind == exactjson.Null {
		return nil
	}
	if v.Kind != exactjson.String {
		f.bad.Add(name, "must be a string", "phải là chuỗi ký tự")
		return nil
	}
	return &v.Text
}

// given reads a string; empty: it is missing or null.
func (f *fields) given(name string) string {
	if s := f.optional(name); s != nil {
		return *s
	}
	return ""
}

// state reads true or false; nil: it is missing or null.
func (f *fields) state(name string) *bool {
	v := f.body.Get(name)
	switch v.Kind {
	case exactjson.Null:
		return nil
	case exactjson.Bool:
		return new(v.Text == "true")
	}
	f.bad.Add(name, "must be true or false", "phải là true hoặc false")
	return nil
}

// truth reads true or false; false: it is false, missing or null.
func (f *fields) truth(name string) bool {
	given := f.state(name)
	return given != nil && *given
}

func (f *fields) texts(name string) (list []string) {
	v := f.body.Get(name)
	for _, item := range v.Items {
		if item.Kind == exactjson.String {
			list = append(list, item.Text)
		}
	}
	if v.Kind != exactjson.Null && v.Kind != exactjson.Array || len(list) < len(v.Items) {
		f.bad.Add(name, "must be a list of strings", "phải là danh sách chuỗi ký tự")
	}
	return list
}

func (f *fields) textsByName(name string) map[string]string {
	v := f.body.Get(name)
	texts := map[string]string{}
	for _, m := range v.Members {
		if _, twice := texts[m.Key]; twice || m.Value.Kind != exactjson.String {
			f.bad.Add(name, "must be an object of strings, each name once", "phải là đối tượng gồm các chuỗi ký tự, mỗi tên một lần")
			return nil
		}
		texts[m.Key] = m.Value.Text
	}
	if v.Kind != exactjson.Null && v.Kind != exactjson.Object {
		f.bad.Add(name, "must be an object of strings, each name once", "phải là đối tượng gồm các chuỗi ký tự, mỗi tên một lần")
	}
	return texts
}

func (f *fields) required(name string) string {
	if f.body.Get(name).Kind == exactjson.Null {
		f.bad.Add(name, "is required", "là bắt buộc")
	}
	return f.given(name)
}

// reference reads an id; 0: it is missing or null.
func (f *fields) reference(name string) int64 {
	v := f.body.Get(name)
	if v.Kind == exactjson.Null {
		return 0
	}
	id, ok := wire.ParseID(v.Text)
	if v.Kind != exactjson.Number || !ok {
		f.bad.Add(name, "must be the integer id of something in this account, or null",
			"phải là id (số nguyên) có trong tài khoản này, hoặc null")
	}
	return id
}

// bankAccounts reads the bank accounts of a limit: bank_account_id, or several in
// bank_account_ids; nil: the body has neither.
func (f *fields) bankAccounts() []int64 {
	if !f.has("bank_account_ids") {
		if id := f.reference("bank_account_id"); id != 0 {
			return []int64{id}
		}
		return nil
	}
	ids := f.bankAccountList()
	if len(ids) == 0 && f.bad.Err() == nil {
		f.bad.Add("bank_account_ids", errBankAccountList.EN, errBankAccountList.VI)
	}
	if f.has("bank_account_id") {
		f.bad.Add("bank_account_id", "must not be given together with bank_account_ids", "không được dùng cùng bank_account_ids")
	}
	return ids
}

var errBankAccountList = app.Text{EN: "must be a list of integer ids of bank accounts in this account",
	VI: "phải là danh sách id (số nguyên) của tài khoản ngân hàng trong tài khoản này"}

func (f *fields) bankAccountList() (ids []int64) {
	list := f.body.Get("bank_account_ids")
	for _, v := range list.Items {
		if id, ok := wire.ParseID(v.Text); ok && v.Kind == exactjson.Number {
			ids = append(ids, id)
		}
	}
	if list.Kind != exactjson.Array || len(ids) < len(list.Items) {
		f.bad.Add("bank_account_ids", errBankAccountList.EN, errBankAccountList.VI)
	}
	return ids
}

func (f *fields) headers() (list []delivery.Header) {
	values := f.textsByName("headers")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, delivery.Header{Name: name, Value: values[name]})
	}
	return list
}

// has reports whether a field is given, and not null.
func (f *fields) has(name string) bool { return f.body.Get(name).Kind != exactjson.Null }

// whole reads a whole number from least to most. It returns otherwise if none is given.
func (f *fields) whole(name string, otherwise, least, most int, rule app.Text) int {
	v := f.body.Get(name)
	if v.Kind == exactjson.Null {
		return otherwise
	}
	n, err := strconv.Atoi(v.Text)
	if v.Kind != exactjson.Number || err != nil || n < least || n > most {
		f.bad.Add(name, rule.EN, rule.VI)
		return otherwise
	}
	return n
}
