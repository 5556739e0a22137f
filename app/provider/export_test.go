package provider

// SignedPayOS is what a payOS call with this body signs; ok is false where
// payOS's libraries would sign nothing.
func SignedPayOS(body []byte) (text []byte, ok bool) {
	fields, ok := payOSFields(body)
	return fields.signedText(), ok
}
