package docs

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strings"

	"baoco/app"
	"baoco/app/exactjson"

	"github.com/yuin/goldmark"
)

// reference is the document as the pages show it, in one language.
type reference struct {
	Version string
	Text    template.HTML
	Groups  []*group
	byID    map[string]*operation

	document exactjson.Value
	texts    map[string]string // translations by the English text; nil: the texts stay English
	Words    map[string]string // the texts of the pages themselves, by name
}

type group struct {
	Name       string
	Text       template.HTML
	Operations []*operation
}

type operation struct {
	ID, Method, Path, Summary string
	Text                      template.HTML
	Scope                     string // the scope that a key needs: read or full; empty: no key is needed
	Limit                     string // requests a minute; empty: no limit
	Parameters, Body          []field
	Example                   string // of the body
	Answers                   []answer
}

type answer struct {
	Status  string
	Text    template.HTML
	Fields  []field
	Example string
}

// field is a parameter, or a member of a JSON object.
type field struct {
	Name     string // member b of member a is a.b; member b of each element of a is a[].b
	Type     string
	Required bool
	Text     template.HTML
}

// newReference reads the document. It panics if the document has a fault: the document is part
// of the program, and the tests of web/api check it.
func newReference(document []byte, texts, words map[string]string) *reference {
	root, err := exactjson.Parse(document)
	if err != nil {
		panic(err)
	}
	r := &reference{document: root, texts: texts, Words: words, byID: map[string]*operation{}}
	info := root.Get("info")
	r.Version, r.Text = info.Get("version").Text, r.markdown(info.Get("description"))
	groups := map[string]*group{}
	for _, tag := range root.Get("tags").Items {
		g := &group{Name: r.text(tag.Get("name")), Text: r.markdown(tag.Get("description"))}
		groups[tag.Get("name").Text] = g
		r.Groups = append(r.Groups, g)
	}
	for _, path := range append(root.Get("paths").Members, root.Get("webhooks").Members...) {
		for _, method := range path.Value.Members {
			v := method.Value
			if v.Get("operationId").Text == "" {
				continue // these are the parameters of all methods of the path
			}
			o := r.operation(path.Value, v)
			o.Method, o.Path = strings.ToUpper(method.Key), path.Key
			g := groups[v.Get("tags").Items[0].Text]
			g.Operations = append(g.Operations, o)
			r.byID[o.ID] = o
		}
	}
	return r
}

func (r *reference) operation(path, v exactjson.Value) *operation {
	o := &operation{ID: v.Get("operationId").Text, Summary: r.text(v.Get("summary")), Text: r.markdown(v.Get("description")),
		Limit: v.Get("x-requests-per-minute").Text}
	security, own := v.Lookup("security")
	if !own {
		security = r.document.Get("security")
	}
	for _, way := range security.Items {
		for _, scope := range way.Get("apiKey").Items {
			o.Scope = scope.Text
		}
	}
	for _, p := range append(path.Get("parameters").Items, v.Get("parameters").Items...) {
		p = r.resolved(p)
		schema := p.Get("schema")
		o.Parameters = append(o.Parameters, field{p.Get("name").Text + " (" + p.Get("in").Text + ")", r.typeOf(schema),
			p.Get("required").Text == "true", r.textOf(p, schema)})
	}
	o.Body, o.Example = r.content(r.resolved(v.Get("requestBody")))
	for _, status := range v.Get("responses").Members {
		a := r.resolved(status.Value)
		fields, example := r.content(a)
		o.Answers = append(o.Answers, answer{status.Key, r.markdown(a.Get("description")), fields, example})
	}
	return o
}

func (r *reference) content(v exactjson.Value) (fields []field, example string) {
	media := v.Get("content").Members
	if len(media) == 0 {
		return nil, ""
	}
	body := media[0].Value
	fields = r.fields(nil, "", body.Get("schema"), 0)
	shown, given := body.Lookup("example")
	if all := body.Get("examples").Members; len(all) > 0 {
		shown, given = r.resolved(all[0].Value).Get("value"), true
	}
	if !given {
		return fields, ""
	}
	if shown.Kind == exactjson.String {
		return fields, shown.Text
	}
	var b bytes.Buffer
	_ = json.Indent(&b, exactjson.AppendJS(nil, shown), "", "  ")
	return fields, b.String()
}

const deepest = 4

func (r *reference) fields(list []field, prefix string, schema exactjson.Value, depth int) []field {
	schema = r.resolved(schema)
	for _, part := range schema.Get("allOf").Items {
		list = r.fields(list, prefix, part, depth)
	}
	for _, part := range schema.Get("anyOf").Items {
		list = r.fields(list, prefix, part, depth)
	}
	if items, has := schema.Lookup("items"); has && depth < deepest {
		return r.fields(list, prefix+"[]", items, depth+1)
	}
	for _, m := range schema.Get("properties").Members {
		required := false
		for _, name := range schema.Get("required").Items {
			required = required || name.Text == m.Key
		}
		name := m.Key
		if prefix != "" {
			name = prefix + "." + m.Key
		}
		list = append(list, field{name, r.typeOf(m.Value), required, r.textOf(m.Value)})
		if depth < deepest {
			list = r.fields(list, name, m.Value, depth+1)
		}
	}
	return list
}

// resolved is the part of the document that v refers to, or v if it is no reference.
func (r *reference) resolved(v exactjson.Value) exactjson.Value {
	for {
		ref, is := v.Lookup("$ref")
		if !is {
			return v
		}
		v = r.document
		for name := range strings.SplitSeq(strings.TrimPrefix(ref.Text, "#/"), "/") {
			v = v.Get(name)
		}
	}
}

// typeOf names the type of a schema with its bounds.
func (r *reference) typeOf(schema exactjson.Value) string {
	schema = r.resolved(schema)
	if choices := append(schema.Get("anyOf").Items, schema.Get("oneOf").Items...); len(choices) > 0 {
		return joined(choices, " | ", r.typeOf)
	}
	if values := schema.Get("enum").Items; len(values) > 0 {
		return joined(values, " | ", literal)
	}
	if value, has := schema.Lookup("const"); has {
		return literal(value)
	}
	if parts := schema.Get("allOf").Items; len(parts) > 0 {
		return r.typeOf(parts[0])
	}
	name := schema.Get("type").Text
	if several := schema.Get("type").Items; len(several) > 0 {
		name = joined(several, " | ", func(v exactjson.Value) string { return v.Text })
	}
	if items, has := schema.Lookup("items"); has {
		name += " [" + r.typeOf(items) + "]"
	}
	for _, bound := range []struct{ key, sign, unit string }{
		{"minimum", ", ≥ ", ""}, {"maximum", ", ≤ ", ""}, {"maxLength", ", ≤ ", " " + r.Words["characters"]},
		{"maxItems", ", ≤ ", " " + r.Words["elements"]},
	} {
		if v, has := schema.Lookup(bound.key); has {
			name += bound.sign + v.Text + bound.unit
		}
	}
	return name
}

func literal(v exactjson.Value) string { return string(exactjson.AppendJS(nil, v)) }

func joined(list []exactjson.Value, between string, one func(exactjson.Value) string) string {
	var texts []string
	for _, v := range list {
		texts = append(texts, one(v))
	}
	return strings.Join(texts, between)
}

// textOf is the first description of a list. A value without its own description has the
// description of its reference, or that of its only choice besides null.
func (r *reference) textOf(list ...exactjson.Value) template.HTML {
	for _, v := range list {
		text, has := v.Lookup("description")
		v = r.resolved(v)
		if !has {
			text, has = v.Lookup("description")
		}
		if has {
			return r.markdown(text)
		}
		if choices := v.Get("anyOf").Items; len(choices) == 2 && choices[1].Get("type").Text == "null" {
			return r.textOf(choices[0])
		}
	}
	return ""
}

func (r *reference) text(v exactjson.Value) string {
	text := strings.TrimSpace(v.Text)
	if translated := r.texts[text]; translated != "" {
		return translated
	}
	return text
}

// markdown makes HTML of a text. goldmark leaves out HTML in the text.
func (r *reference) markdown(v exactjson.Value) template.HTML {
	var b bytes.Buffer
	if err := goldmark.Convert([]byte(r.text(v)), &b); err != nil {
		panic(err) // it writes into memory
	}
	return template.HTML(b.String())
}

func words(lang app.Lang) map[string]string {
	list := map[string]string{}
	for name, text := range map[string]app.Text{
		"title":      {EN: "The HTTP interface of baoco", VI: "Giao diện HTTP của baoco"},
		"lead":       {EN: "The same as a document for programs", VI: "Cùng nội dung, cho chương trình đọc"},
		"help":       {EN: "The help, with receivers, providers and installation", VI: "Hướng dẫn: mã nhận webhook, nhà cung cấp, cài đặt"},
		"all":        {EN: "All operations", VI: "Tất cả các lệnh gọi"},
		"other":      {EN: "Tiếng Việt", VI: "English"},
		"read":       {EN: "Any API key.", VI: "Khoá API bất kỳ."},
		"full":       {EN: "An API key of scope full.", VI: "Khoá API có phạm vi full."},
		"nokey":      {EN: "No API key.", VI: "Không cần khoá API."},
		"limit":      {EN: "requests a minute for each key.", VI: "lần gọi mỗi phút cho mỗi khoá."},
		"parameters": {EN: "Parameters", VI: "Tham số"},
		"body":       {EN: "Body", VI: "Nội dung gửi"},
		"answers":    {EN: "Answers", VI: "Câu trả lời"},
		"name":       {EN: "Name", VI: "Tên"},
		"type":       {EN: "Data type", VI: "Kiểu dữ liệu"},
		"meaning":    {EN: "Meaning", VI: "Ý nghĩa"},
		"required":   {EN: "required", VI: "bắt buộc"},
		"fields":     {EN: "Fields", VI: "Các trường"},
		"characters": {EN: "characters", VI: "ký tự"},
		"elements":   {EN: "elements", VI: "phần tử"},
		"example":    {EN: "Example", VI: "Ví dụ"},
	} {
		list[name] = text.In(lang)
	}
	return list
}
