package dashboard

import (
	"strconv"

	"baoco/app"
)

// AttentionPath is the path, with its query, of the page where somebody can settle
// what needs attention.
func AttentionPath(a app.Attention) string {
	id := strconv.FormatInt(a.ID, 10)
	if a.SecretLost {
		id += "/rotate"
	}
	switch a.Kind {
	case app.AttentionPlan:
		return "/settings"
	case app.AttentionSystem, app.AttentionServer:
		switch a.Warning {
		case app.WarningCertificate:
			return "/system#program"
		case app.WarningBackup:
			return "/system#backup"
		}
		return "/system"
	case app.AttentionWebhook:
		return "/webhooks/" + id
	case app.AttentionFailed:
		return "/deliveries?status=0&from=" + a.Since.String()
	case app.AttentionInbound:
		return "/inbound/events?state=" + string(a.State)
	case app.AttentionBank:
		return "/banks/" + id
	case app.AttentionSource:
		return "/inbound/sources/" + id
	case app.AttentionAlert:
		return "/settings/alerts"
	}
	return "/"
}

// AttentionPath is for templates.
func (words) AttentionPath(a app.Attention) string { return AttentionPath(a) }
