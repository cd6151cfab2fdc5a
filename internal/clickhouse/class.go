package clickhouse

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
)

// Class says what to do with the same bytes after an error.
type Class int

const (
	// Retryable errors pass: the same bytes go again, later. It is also the class of everything unknown, because
	// only a certain answer may cost data.
	Retryable Class = iota
	// Permanent errors are about these very bytes: they never succeed, others may.
	Permanent
	// Configuration errors last until a person changes something, here or on the server. Nothing is wrong with the
	// data, so it is kept and sent again, and the reason is shown.
	Configuration
)

func (c Class) String() string {
	switch c {
	case Permanent:
		return "permanent"
	case Configuration:
		return "configuration"
	default:
		return "retryable"
	}
}

// Classify returns the class of an error of this package. The class of nil has no meaning.
func Classify(err error) Class {
	if errors.Is(err, ErrTooManyPartitions) {
		return Permanent
	}
	if answered, ok := errors.AsType[*Error](err); ok {
		if class := codeClass(answered.Code); answered.View && class == Permanent {
			return Configuration // what the view cannot hold, the table can
		}
		if answered.Code != 0 {
			return codeClass(answered.Code)
		}
		return statusClass(answered.Status)
	}
	if _, ok := errors.AsType[*TableError](err); ok {
		return Configuration
	}
	for _, target := range []error{
		ErrNotClickHouse, ErrIncompatibleSchema, errPassword, http.ErrSchemeMismatch,
	} {
		if errors.Is(err, target) {
			return Configuration
		}
	}
	if isTLS(err) {
		return Configuration
	}
	return Retryable
}

// statusClass is for answers without ClickHouse's code: those of proxies, balancers and of other services.
func statusClass(status int) Class {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return Configuration // a proxy that wants other credentials
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusGone:
		return Configuration // not ClickHouse's address
	case http.StatusRequestEntityTooLarge:
		return Configuration // a proxy's body limit, which is below insert_rows' size
	}
	if status < 400 {
		return Configuration // a redirect, which is not followed, or a success ClickHouse does not know
	}
	// 408, 429, 5xx pass; the rest is unknown.
	return Retryable
}

// isTLS reports a failed handshake: one side does not accept the other's certificate or does not speak TLS. Time
// and network do not mend that.
func isTLS(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		hostname     x509.HostnameError
		invalid      x509.CertificateInvalidError
		record       tls.RecordHeaderError
		operation    *net.OpError
	)
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname) ||
		errors.As(err, &invalid) || errors.As(err, &record) ||
		// crypto/tls wraps an alert of the peer, such as "certificate required", in this and nothing more.
		errors.As(err, &operation) && operation.Op == "remote error"
}
