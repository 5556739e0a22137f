package web

import (
	"encoding/json"

	"baoco/app"
)

// ParsedJSON is what parseJSON makes of a body, in the types of
// encoding/json: of keys that come twice the last, as there.
func ParsedJSON(body []byte) (any, error) {
	v, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	return v.any(), nil
}

func (v jsonValue) any() any {
	switch v.kind {
	case jsonBool:
		return v.text == "true"
	case jsonNumber:
		return json.Number(v.text)
	case jsonString:
		return v.text
	case jsonArray:
		list := []any{}
		for _, item := range v.items {
			list = append(list, item.any())
		}
		return list
	case jsonObject:
		object := map[string]any{}
		for _, m := range v.members {
			object[m.key] = m.value.any()
		}
		return object
	}
	return nil
}

// DashboardPage is a line of the dashboard's table.
type DashboardPage struct {
	Method, Path string
	Role         app.Role
}

// DashboardPages is the dashboard's table.
func DashboardPages() (list []DashboardPage) {
	for _, p := range dashboardPages {
		list = append(list, DashboardPage{p.method, p.path, p.role})
	}
	return list
}
