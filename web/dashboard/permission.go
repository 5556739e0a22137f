package dashboard

import (
	"slices"

	"baoco/app/access"
)

// permission is what a visitor needs to open a page, in plain words. Templates use it too.
type permission string

const (
	open       permission = ""             // without signing in
	anyUser    permission = "any user"     // the overview, the transactions that visit.narrow permits, the own password, the help
	useCounter permission = "use counter"  // the counter screen, and the money in of today
	useTill    permission = "use till"     // bills of the own shift
	seeAllDays permission = "see all days" // transactions of all days, in and out; no page takes it alone
	seeMoney   permission = "see money"    // sums, bank accounts and exports
	connect    permission = "connect"      // sources and what they sent, webhooks, deliveries, API keys that only read
	ownerOnly  permission = "owner only"   // all that changes money, users or settings
)

// granted has the permissions of each role besides anyUser. Owners have all.
var granted = map[access.Role][]permission{
	access.RoleOwner:      {useCounter, useTill, seeAllDays, seeMoney, connect, ownerOnly},
	access.RoleAccountant: {useCounter, seeAllDays, seeMoney},
	access.RoleDeveloper:  {seeAllDays, connect},
	access.RoleCashier:    {useCounter, useTill},
}

// may reports whether somebody of a role has a permission. A role that isn't known
// has none.
func may(role access.Role, p permission) bool {
	list, known := granted[role]
	return p == open || known && (p == anyUser || slices.Contains(list, p))
}

func (v *visit) may(p permission) bool { return may(v.user.Role, p) }
