package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Credentials hold the canary, so that finish finds them wherever they were written down.
const (
	token   = canary + "-token"
	guessed = canary + "-guessed"
)

// guarded makes the OTLP receiver ask for a certificate and for what an extension knows.
const guarded = `
extensions:
  bearertokenauth: {token: "${env:TOKEN}"}
  basicauth: {htpasswd: {inline: "${env:HTPASSWD}"}}
receivers:
  otlp:
    protocols:
      grpc: {tls: &tls {cert_file: %[1]s, key_file: %[2]s, client_ca_file: %[3]s}, auth: {authenticator: %[4]s}}
      http: {tls: *tls, auth: {authenticator: %[4]s}}
service: {extensions: [healthcheckv2, file_storage/queue, bearertokenauth, basicauth]}
`

// Who may send to an OTLP receiver with TLS and authentication: nobody without the right certificate and the right
// credentials, which stand in no answer and no log.
func TestReceiverAuthentication(t *testing.T) {
	t.Parallel()
	basic := func(password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte("writer:"+password))
	}
	for authenticator, credentials := range map[string][]string{
		"bearertokenauth": {"Bearer " + token, "Bearer " + guessed, token, basic(token), "Bearer ", ""},
		"basicauth":       {basic(token), basic(guessed), "Bearer " + token, basic(""), "Basic " + token, ""},
	} {
		t.Run(authenticator, func(t *testing.T) {
			t.Parallel()
			ours, others := newAuthority(t), newAuthority(t)
			folder := t.TempDir()
			certFile, keyFile := write(t, folder, "server", ours.server(t, unchanged))
			caFile, _ := write(t, folder, "ca", ours.pair)
			r := newRig(t, fmt.Sprintf(guarded, certFile, keyFile, caFile, authenticator))
			r.collector.Env = append(r.collector.Env, "TOKEN="+token, "HTPASSWD=writer:"+token)
			r.collector.Start()

			known := &tls.Config{RootCAs: ours.pool(), Certificates: []tls.Certificate{ours.client(t)}, MinVersion: tls.VersionTLS12}
			for i, authorization := range credentials {
				want := http.StatusUnauthorized
				if i == 0 {
					want = http.StatusOK
				}
				got, said := r.sendHTTP(known, authorization)
				assert.Equal(t, want, got, "%q: %s", authorization, said)
				assert.NotContains(t, said, canary)
				code, said := r.sendGRPC(known, authorization)
				assert.Equal(t, want == http.StatusOK, code == codes.OK, "%q: %s: %s", authorization, code, said)
				assert.Contains(t, []codes.Code{codes.OK, codes.Unauthenticated}, code, "%q: %s", authorization, said)
				assert.NotContains(t, said, canary)
			}

			stranger := known.Clone()
			stranger.Certificates = []tls.Certificate{others.client(t)}
			nobody := known.Clone()
			nobody.Certificates = nil
			old := known.Clone()
			old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
			for name, config := range map[string]*tls.Config{"another authority": stranger, "no certificate": nobody, "TLS 1.1": old} {
				got, said := r.sendHTTP(config, credentials[0])
				assert.Zero(t, got, "%s: %s", name, said)
				code, said := r.sendGRPC(config, credentials[0])
				assert.Equal(t, codes.Unavailable, code, "%s: %s", name, said)
				t.Logf("%s: %s", name, said)
			}
			for _, page := range []string{"http://" + r.collector.Telemetry + "/metrics", "http://" + r.collector.Health + "/status?verbose"} {
				response, err := http.Get(page)
				require.NoError(t, err)
				content, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				assert.NotContains(t, string(content), canary, page)
			}
			got := r.finish(0)
			assert.Equal(t, int64(2*pointsOfOne), got.acknowledged, "one request over HTTP, one over gRPC")
		})
	}
}

// pointsOfOne is how many points a request of sendHTTP and sendGRPC has.
const pointsOfOne = 10

func (r *rig) one() (request, pmetricotlp.ExportRequest) {
	r.producers++
	q := request{producer: r.producers, points: pointsOfOne}
	return q, r.record.export(q, 0)
}

// answered records a request that certainly was, or was not, accepted.
func (r *rig) answered(q request, accepted bool) {
	q.outcome = refused
	if accepted {
		q.outcome = acknowledged
	}
	r.record.add(q, nil)
}

// sendHTTP sends one request and returns the answer's status and body, or 0 and the error of a connection.
func (r *rig) sendHTTP(config *tls.Config, authorization string) (status int, said string) {
	r.t.Helper()
	q, export := r.one()
	body, err := export.MarshalProto()
	require.NoError(r.t, err)
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "https://"+r.collector.HTTP+"/v1/metrics", bytes.NewReader(body))
	require.NoError(r.t, err)
	request.Header.Set("Content-Type", "application/x-protobuf")
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport, Timeout: answerTimeout}).Do(request)
	if err != nil {
		r.answered(q, false)
		return 0, err.Error()
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(r.t, err)
	r.answered(q, response.StatusCode == http.StatusOK)
	return response.StatusCode, string(content)
}

// sendGRPC sends one request and returns what the answer says.
func (r *rig) sendGRPC(config *tls.Config, authorization string) (code codes.Code, said string) {
	r.t.Helper()
	q, export := r.one()
	connection, err := grpc.NewClient("passthrough:///"+r.collector.GRPC, grpc.WithTransportCredentials(credentials.NewTLS(config)))
	require.NoError(r.t, err)
	defer connection.Close()
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	if authorization != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", authorization)
	}
	_, err = pmetricotlp.NewGRPCClient(connection).Export(ctx, export)
	r.answered(q, err == nil)
	return status.Code(err), status.Convert(err).Message()
}
