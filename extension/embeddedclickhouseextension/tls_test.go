package embeddedclickhouseextension

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// testCertificate writes the certificate httptest uses, which does not name the address listened on.
func testCertificate(t *testing.T) tlsConfig {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	dir := t.TempDir()
	files := tlsConfig{CertFile: filepath.Join(dir, "server.crt"), KeyFile: filepath.Join(dir, "server.key")}
	for path, block := range map[string]pem.Block{
		files.CertFile: {Type: "CERTIFICATE", Bytes: server.Certificate().Raw},
		files.KeyFile:  {Type: "PRIVATE KEY", Bytes: key},
	} {
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&block), 0o600))
	}
	return files
}

func TestAnEngineWithTLSIsFound(t *testing.T) {
	l := newLab(t, "serve")
	l.cfg.TLS = testCertificate(t)
	l.cfg.ListenAddress = "localhost" + l.cfg.ListenAddress[len("127.0.0.1"):]
	l.ext.pinger = newPinger(l.cfg)
	l.start()
	l.waitStatus("StatusOK")
}
