package inbound_test

// inboundPath is the way in for providers' calls, before a source's token.
const inboundPath = "/api/webhooks/provider"
