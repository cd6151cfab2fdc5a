package httpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// User may run statements.
type User struct {
	Name     string
	Password string
	ReadOnly bool
}

// authenticate finds the user a request names and proves to be. Without users
// with a password everybody is the first one.
func (s *Server) authenticate(r *http.Request) (User, error) {
	name, password, err := credentials(r)
	if err != nil {
		return User{}, err
	}
	sum := sha256.Sum256([]byte(password))
	for _, u := range s.users {
		if u.Name != name {
			continue
		}
		want := sha256.Sum256([]byte(u.Password))
		if u.Password == "" || subtle.ConstantTimeCompare(sum[:], want[:]) == 1 {
			return u, nil
		}
	}
	return User{}, exception(codeAuthentication,
		"%s: Authentication failed: password is incorrect, or there is no user with such name", name)
}

// credentials come from one of three places, and mixing them is refused, as
// ClickHouse does it.
func credentials(r *http.Request) (name, password string, err error) {
	query := r.URL.Query()
	inHeaders := r.Header.Get("X-ClickHouse-User") != "" || r.Header.Get("X-ClickHouse-Key") != ""
	inQuery := query.Has("user") || query.Has("password")
	user, basicPassword, basic := r.BasicAuth()
	switch {
	case r.Header.Get("Authorization") != "" && !basic:
		return "", "", exception(codeAuthentication, "Invalid authentication: only the Basic HTTP Authorization scheme is supported")
	case inHeaders && (basic || inQuery), basic && inQuery:
		return "", "", exception(codeAuthentication, "Invalid authentication: give user and password in one place only")
	case inHeaders:
		name, password = r.Header.Get("X-ClickHouse-User"), r.Header.Get("X-ClickHouse-Key")
	case basic:
		name, password = user, basicPassword
	default:
		name, password = query.Get("user"), query.Get("password")
	}
	if name == "" {
		name = "default"
	}
	return name, password, nil
}

// Protect refuses what a web page of another origin may send through the user's
// browser: it reaches loopback, and without a password nothing else would stop it.
func (s *Server) Protect(loopbackOnly bool) http.Handler {
	var h http.Handler = s
	if loopbackOnly {
		h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !isLoopbackName(r.Host) {
				http.Error(w, "the Host header must name this machine's loopback address while no password is set", http.StatusForbidden)
				return
			}
			s.ServeHTTP(w, r)
		})
	}
	return http.NewCrossOriginProtection().Handler(h)
}

func isLoopbackName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
