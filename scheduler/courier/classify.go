package courier

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"reflect"
	"slices"
	"syscall"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/target"
)

// Classify returns the class and the cause of an error, by its type, and its text
// without the URL, which may hold a secret of the shop. phase is the last phase of the
// attempt that began.
func Classify(err error, phase delivery.Cause) (delivery.ErrorClass, delivery.Detail) {
	var (
		blocked   *target.BlockedAddressError
		dns       *net.DNSError
		handshake *HandshakeError
		operation *net.OpError
		timeout   net.Error
	)
	switch {
	case errors.As(err, &blocked):
		return delivery.ErrorBlocked, delivery.Detail{Text: blocked.Error()}
	case errors.As(err, &dns) && dns.IsTimeout:
		return delivery.ErrorTimeout, delivery.Detail{Cause: delivery.CauseDNS}
	case errors.As(err, &dns) && dns.IsNotFound:
		return delivery.ErrorDNS, delivery.Detail{Cause: delivery.CauseNoSuchName, Text: clipText(dns.Err)}
	case errors.As(err, &dns):
		return delivery.ErrorDNS, delivery.Detail{Cause: delivery.CauseLookupFailed, Text: clipText(dns.Err)}
	case shortageOf(err) != "" && phase != delivery.CauseResponse: // nothing was sent
		return delivery.ErrorShortage, delivery.Detail{Cause: shortageOf(err)}
	case shortageOf(err) != "":
		return delivery.ErrorInternal, delivery.Detail{Text: unwrapURL(err)}
	case isAny(err, syscall.ECONNREFUSED):
		return delivery.ErrorRefused, delivery.Detail{}
	case isAny(err, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF):
		return delivery.ErrorReset, delivery.Detail{Cause: phase}
	case errors.As(err, &timeout) && timeout.Timeout(), isAny(err, context.Canceled, context.DeadlineExceeded):
		return delivery.ErrorTimeout, delivery.Detail{Cause: phase}
	case errors.As(err, &handshake):
		return delivery.ErrorTLS, delivery.Detail{Cause: tlsCause(handshake.Err), Text: unwrapURL(handshake.Err)}
	case isAny(err, syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.EADDRNOTAVAIL):
		return delivery.ErrorConnection, delivery.Detail{Cause: delivery.CauseUnreachable, Text: unwrapURL(err)}
	case errors.As(err, &operation):
		return delivery.ErrorConnection, delivery.Detail{Text: clipText(operation.Err.Error())}
	}
	return delivery.ErrorProtocol, delivery.Detail{Text: unwrapURL(err)}
}

// shortageOf names what this machine was short of for a connection; empty: nothing.
func shortageOf(err error) delivery.Cause {
	switch {
	case isAny(err, syscall.EMFILE, syscall.ENFILE):
		return delivery.CauseFiles
	case isAny(err, syscall.ENOMEM, syscall.ENOBUFS):
		return delivery.CauseMemory
	case isAny(err, syscall.EADDRNOTAVAIL) && !withoutIPv6(err):
		return delivery.CausePorts
	}
	return ""
}

// withoutIPv6 reports whether a connection to an IPv6 address failed because this
// machine has no such address itself. Waiting doesn't help then.
func withoutIPv6(err error) bool {
	var operation *net.OpError
	if !errors.As(err, &operation) {
		return false
	}
	to, ok := operation.Addr.(*net.TCPAddr)
	if !ok || to.IP.To4() != nil {
		return false
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, addr := range own {
		if network, ok := addr.(*net.IPNet); ok && network.IP.To4() == nil && !network.IP.IsLinkLocalUnicast() &&
			network.IP.IsLoopback() == to.IP.IsLoopback() {
			return false
		}
	}
	return true
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

func tlsCause(err error) delivery.Cause {
	var (
		record    tls.RecordHeaderError
		refused   *tls.CertificateVerificationError
		hostname  x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		operation *net.OpError
	)
	switch {
	case errors.As(err, &record):
		return delivery.CauseNotTLS
	case errors.As(err, &hostname):
		return delivery.CauseWrongName
	case errors.As(err, &authority):
		if errors.As(err, &refused) && isSelfSigned(refused.UnverifiedCertificates[0]) {
			return delivery.CauseSelfSigned
		}
		return delivery.CauseUnknownAuthority
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		if invalid.Cert.NotBefore.After(time.Now()) {
			return delivery.CauseNotYetValid
		}
		return delivery.CauseExpired
	case errors.As(err, &refused), errors.As(err, &invalid):
		return delivery.CauseBadCertificate
	case errors.As(err, &operation) && operation.Op == "remote error":
		return alertCause(operation.Err)
	}
	return delivery.CauseHandshake
}

func isSelfSigned(c *x509.Certificate) bool {
	return bytes.Equal(c.RawIssuer, c.RawSubject)
}

// alertCause reads the number of the alert that a server sent. Its type is based on
// uint8, and crypto/tls doesn't export it.
func alertCause(alert error) delivery.Cause {
	v := reflect.ValueOf(alert)
	if v.Kind() != reflect.Uint8 {
		return delivery.CauseHandshake
	}
	switch v.Uint() { // RFC 8446, 6
	case 70: // protocol_version
		return delivery.CauseOldTLS
	case 112: // unrecognized_name
		return delivery.CauseWrongName
	case 42, 116: // bad_certificate, certificate_required
		return delivery.CauseClientCertificate
	}
	return delivery.CauseHandshake
}

// unwrapURL is the text of err without the method and URL in front.
func unwrapURL(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		if _, ok := err.(interface{ Timeout() bool }); !ok {
			break
		}
		err = inner
	}
	return clipText(err.Error())
}

// clipText cleans and shortens a receiver's text for the history.
func clipText(s string) string { return app.CleanText(s, 300) }
