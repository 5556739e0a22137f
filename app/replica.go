package app

import "time"

// A replica is a copy of the file on another disk, which the program Litestream writes.
// Where it lies and how it is reached is package replica's; here is what the file
// itself holds for it.

// BeatInterval is the time between two beats in a file that has a replica.
const BeatInterval = time.Minute

// Beat is a number and a time in the file. A server writes one every minute, so that a
// copy shows how old it is also where no money came in.
type Beat struct {
	Sequence int64 // 0: there never was one
	At       time.Time
}
