package dashboard

import "baoco/app"

// onboardingStep is one thing to do before a shop gets its first webhook.
type onboardingStep struct {
	Text app.Text
	To   string
	Done bool
}

// onboardedTransactions is the number of transactions from which on the steps are
// not shown any more, even if some are left.
const onboardedTransactions = 20

// onboardingSteps lead an owner from the first visit to the first webhook that
// arrives. Viewers have none. There are none once all are done.
func (s *Server) onboardingSteps(v *visit) ([]onboardingStep, error) {
	if !v.owner() {
		return nil, nil
	}
	sum, err := s.Service.Overview(v.Context(), v.account.ID)
	if err != nil || sum.Transactions >= onboardedTransactions {
		return nil, err
	}
	sources, err := s.Service.Sources(v.Context(), v.account.ID)
	if err != nil {
		return nil, err
	}
	hooks, err := s.Service.Webhooks(v.Context(), v.account.ID)
	if err != nil {
		return nil, err
	}
	list := []onboardingStep{
		{app.Text{EN: "Link a bank account", VI: "Liên kết tài khoản ngân hàng"}, "/banks", sum.BankAccounts > 0},
		{app.Text{EN: "Add a source to receive transactions", VI: "Thêm nguồn để nhận giao dịch"}, "/inbound", len(sources) > 0 || sum.Transactions > 0},
		{app.Text{EN: "Create a webhook to notify your shop", VI: "Tạo webhook để báo cho cửa hàng"}, "/webhooks/new", len(hooks) > 0},
		{app.Text{EN: "Send a test", VI: "Gửi thử đến cửa hàng"}, "/webhooks", sum.WebhooksSent > 0},
	}
	for _, one := range list {
		if !one.Done {
			return list, nil
		}
	}
	return nil, nil
}
