package inbound_test

import "encoding/base64"

// inboundPath is the way in for providers' calls, before a source's token.
const inboundPath = "/api/webhooks/provider"

const (
	tokenPath = "/api/token_generate"
	syncPath  = "/bank/api/transaction-sync"
)

func basic(username, password string) []string {
	return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))}
}
