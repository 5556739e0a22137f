package dashboard

import (
	"slices"

	"baoco/app/access"
)

// permission is what a page takes, in plain words. Templates know it by them too.
type permission string

const (
	open       permission = ""             // nobody has to be signed in
	anyUser    permission = "any user"     // a first page, the transactions as visit.narrow narrows them, the own password, the help
	useCounter permission = "use counter"  // the counter screen, and what came in today
	useTill    permission = "use till"     // bills of the own shift
	seeAllDays permission = "see all days" // transactions of all days, in and out; of no page
	seeMoney   permission = "see money"    // sums, bank accounts and exports
	connect    permission = "connect"      // sources and what they sent, webhooks, deliveries, API keys that only read
	ownerOnly  permission = "owner only"   // all that changes money, users or settings
)

// granted says what each role may do, beside what any user may. Owners may do
// everything.
var granted = map[access.Role][]permission{
	access.RoleOwner:      {useCounter, useTill, seeAllDays, seeMoney, connect, ownerOnly},
	access.RoleAccountant: {useCounter, seeAllDays, seeMoney},
	access.RoleDeveloper:  {seeAllDays, connect},
	access.RoleCashier:    {useCounter, useTill},
}

// may tells whether somebody of a role has a permission. A role that isn't known
// has none.
func may(role access.Role, p permission) bool {
	list, known := granted[role]
	return p == open || known && (p == anyUser || slices.Contains(list, p))
}

func (v *visit) may(p permission) bool { return may(v.user.Role, p) }
