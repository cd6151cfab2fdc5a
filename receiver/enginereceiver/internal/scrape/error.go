package scrape

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Kind is why a page was not got, as an attribute's value.
type Kind string

// Kinds of failures.
const (
	Canceled   Kind = "canceled" // by the caller
	Timeout    Kind = "timeout"
	Connection Kind = "connection" // no such host, refused, or cut off in the middle
	TLS        Kind = "tls"
	Redirect   Kind = "redirect" // to another server or scheme, or more often than maxRedirects
	Status     Kind = "status"   // not 200
	Encoding   Kind = "encoding" // a Content-Encoding that was not asked for, or broken gzip
	HTML       Kind = "html"
	Size       Kind = "size" // not one whole line within the limit
	Address    Kind = "address"
)

// Error is a page that was not got. Its text is at most a few hundred bytes and holds nothing of the address.
type Error struct {
	Kind Kind
	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// Excerpt is the beginning of an answer that is not metrics, on one line.
	Excerpt string
	cause   error
}

func (e *Error) Error() string {
	text := string(e.Kind)
	if e.cause != nil {
		text += ": " + oneLine([]byte(e.cause.Error()))
	}
	if e.Excerpt != "" {
		text += ": " + e.Excerpt
	}
	return text
}

func (e *Error) Unwrap() error { return e.cause }

var (
	errAddress   = errors.New("not an http or https URL")
	errElsewhere = errors.New("redirected to another server or scheme")
	errLoop      = errors.New("redirected too often")
	errTooLarge  = errors.New("no whole line within the limit")
)

// failure classes what the client or the body's reader returned. url.Error is left out: it has the address.
func failure(ctx context.Context, err error) *Error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		if inner.Timeout() && !errors.Is(ctx.Err(), context.Canceled) {
			return &Error{Kind: Timeout, cause: context.DeadlineExceeded}
		}
		err = inner.Err
	}
	return &Error{Kind: kindOf(ctx, err), cause: err}
}

func kindOf(ctx context.Context, err error) Kind {
	var timeout net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return Timeout
	case errors.Is(err, errElsewhere), errors.Is(err, errLoop):
		return Redirect
	case isTLS(err):
		return TLS
	default:
		return Connection
	}
}

func isTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return true
	}
	// The alert of the other side, and HTTP spoken to a TLS port, have no types of their own.
	return strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "HTTP response to HTTPS client")
}

// excerptBytes bounds each text of a server in an error.
const excerptBytes = 200

// oneLine is the beginning of a text in printable characters, with runs of spaces as one.
func oneLine(text []byte) string {
	cut := len(text) > 4*excerptBytes
	text = text[:min(len(text), 4*excerptBytes)]
	s := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(text), "?"), func(r rune) bool {
		return r <= ' ' || r == utf8.RuneError || (r >= 0x7f && r < 0xa0)
	}), " ")
	if len(s) > excerptBytes {
		s, cut = strings.ToValidUTF8(s[:excerptBytes], ""), true
	}
	if cut {
		s += "…"
	}
	return s
}
