package app

// TransactionOrigin is where a transaction comes from.
type TransactionOrigin struct {
	SourceID       int64  // that named it first; 0: by hand or from a file
	SourceName     string // empty for the same
	Provider       Provider
	Channel        Channel
	InboundEventID int64 // 0: there was none, or it was pruned
	// Merged are the names under which others told of the same transfer.
	Merged []EventName
}

// EventName is a name that a source gave a transaction on a channel.
type EventName struct {
	SourceID   int64
	SourceName string
	Channel    Channel
	EventID    string
}

// MaxMerged is how many names of a transaction a TransactionOrigin has at most.
const MaxMerged = 100
