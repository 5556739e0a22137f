package sms

func (k Kind) String() string { return [...]string{"balance", "other", "code", "unreadable"}[k] }
