package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// selfSigned writes a certificate for 127.0.0.1 and its key, and returns it.
func selfSigned(t *testing.T, certFile, keyFile string, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "pitwall"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	// Written beside and renamed, as certificate managers do it: the files are new ones.
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		require.NoError(t, os.WriteFile(path+".new", pem.EncodeToMemory(block), 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	}
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return cert
}

func TestTLSAndRenewedCertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := selfSigned(t, certFile, keyFile, 1)
	h := start(t, t.TempDir(), "--tls-cert", certFile, "--tls-key", keyFile)
	require.True(t, strings.HasPrefix(h.url, "https://"))
	ask := func(trusted *x509.Certificate, version uint16) (string, error) {
		pool := x509.NewCertPool()
		pool.AddCert(trusted)
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: version}}}
		resp, err := client.Post(h.url, "", strings.NewReader("SELECT 1"))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	body, err := ask(first, tls.VersionTLS12)
	require.NoError(t, err)
	assert.Equal(t, "1\n", body)
	_, err = ask(first, tls.VersionTLS11)
	assert.ErrorContains(t, err, "protocol version")

	second := selfSigned(t, certFile, keyFile, 2)
	body, err = ask(second, tls.VersionTLS13)
	require.NoError(t, err)
	assert.Equal(t, "1\n", body)
	_, err = ask(first, tls.VersionTLS13)
	assert.Error(t, err)

	// Half a pair does not take the server down.
	require.NoError(t, os.WriteFile(certFile, []byte("-----BEGIN"), 0o600))
	_, err = ask(second, tls.VersionTLS13)
	assert.NoError(t, err)
}
