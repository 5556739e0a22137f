package dashboard

import (
	"slices"
	"strings"

	"baoco/app"
	"baoco/app/alert"
)

// attention lists the things that need attention and that the visitor may settle.
func (s *Server) attention(v *visit) ([]alert.Attention, error) {
	list, err := s.Services.Alerts.Attention(v.Context(), v.account.ID, s.Installation, v.now)
	list = slices.DeleteFunc(list, func(a alert.Attention) bool { return !v.may(attentionTakes(a.Kind)) })
	return groupRefused(list), err
}

// attentionTakes is the permission that the page of Attention.Path takes.
func attentionTakes(kind alert.AttentionKind) permission {
	switch kind {
	case alert.AttentionWebhook, alert.AttentionStream, alert.AttentionFailed, alert.AttentionInbound, alert.AttentionSource:
		return connect
	case alert.AttentionBank, alert.AttentionMatch:
		return seeMoney
	}
	return ownerOnly
}

// groupRefused makes one line of all sources whose calls are refused.
func groupRefused(list []alert.Attention) []alert.Attention {
	refused := func(a alert.Attention) bool { return a.Refused != "" }
	first := slices.IndexFunc(list, refused)
	var names []string
	for _, a := range list {
		if refused(a) {
			names = append(names, "“"+a.Refused+"”")
		}
	}
	if len(names) < 2 {
		return list
	}
	all := strings.Join(names, ", ")
	return slices.Insert(slices.DeleteFunc(list, refused), first, alert.Attention{
		Kind: alert.AttentionSource, Action: app.Text{EN: "Check", VI: "Kiểm tra"},
		Text: app.Textf("Calls to %d sources are refused, so their transactions are not received. "+
			"The secrets entered at the providers may be wrong: %s.",
			"Lần gọi đến %d nguồn bị từ chối nên không nhận được giao dịch. Có thể khoá bí mật nhập bên nhà cung cấp bị sai: %s.", len(names), all),
	})
}
