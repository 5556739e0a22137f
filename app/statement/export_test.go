package statement

// Skipped lists why lines below the header that held something were no
// transactions, and why columns of transactions aren't recorded.
func (r *Reader) Skipped() []Skip { return r.skips }
