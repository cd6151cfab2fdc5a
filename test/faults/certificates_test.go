package faults

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority is a certificate authority that only this test run knows.
type authority struct{ pair tls.Certificate }

func newAuthority(t *testing.T) authority {
	t.Helper()
	template := valid("Pitwall test CA")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	return authority{sign(t, template, nil)}
}

// server issues a certificate for the loopback address; change makes it another one.
func (a authority) server(t *testing.T, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	template := valid("server")
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	change(template)
	return sign(t, template, &a.pair)
}

// client issues a certificate by which a client shows who it is.
func (a authority) client(t *testing.T) tls.Certificate {
	t.Helper()
	template := valid("client")
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return sign(t, template, &a.pair)
}

// pool trusts this authority and nobody else.
func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.pair.Leaf)
	return pool
}

func unchanged(*x509.Certificate) {}

func valid(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(2 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

// sign makes a key and its certificate; without a parent it signs itself.
func sign(t *testing.T, template *x509.Certificate, parent *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	issuer, signer := template, any(key)
	if parent != nil {
		issuer, signer = parent.Leaf, parent.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), signer)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// write replaces name.crt and name.key in a folder, each at once, as tools that renew certificates do.
func write(t *testing.T, folder, name string, pair tls.Certificate) (certFile, keyFile string) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	certFile, keyFile = filepath.Join(folder, name+".crt"), filepath.Join(folder, name+".key")
	replace := func(path, kind string, der []byte) {
		content := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		require.NoError(t, os.WriteFile(path+".new", content, 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	}
	replace(keyFile, "PRIVATE KEY", key)
	replace(certFile, "CERTIFICATE", pair.Certificate[0])
	return certFile, keyFile
}
