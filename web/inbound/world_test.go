package inbound_test

// This file has what all tests of the providers' way in share. provider_test.go
// tests who may come in, provider_body_test.go and provider_limits_test.go what
// is read of a body, provider_duplicates_test.go what is recorded once,
// provider_vector_test.go and provider_mutation_test.go the providers' own
// calls, provider_signed_test.go, provider_form_test.go and
// provider_kinds_test.go what differs between them, provider_link_test.go what
// waits for somebody, provider_faults_test.go and provider_process_test.go
// hostile clients, crowds and other processes.

const inboundPath = "/api/webhooks/provider"
