package dashboard

import (
	"net/url"
	"strings"
)

// The filters of the lists, by their parameters in the address. The same names
// are those of the inputs.
var (
	transactionFilters = []string{"q", "type", "from", "to", "min", "max", "bank_account_id", "delivery_state"}
	historyFilters     = []string{"q", "webhook_id", "status", "type", "from", "to", "transaction_id"}
	eventFilters       = []string{"source_id", "state"}
)

// filterOf picks a filter out of an address or a form, and makes a copy of it.
// What is empty is left out.
func filterOf(values url.Values, names []string) url.Values {
	filter := url.Values{}
	for _, name := range names {
		if value := strings.TrimSpace(values.Get(name)); value != "" {
			filter.Set(name, value)
		}
	}
	return filter
}

// linkTo is an address with parameters.
func linkTo(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}
