package targets

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is a DNS server on loopback that knows what records say.
type nameServer struct {
	records atomic.Pointer[map[dnsmessage.Type][]dnsmessage.ResourceBody]
	code    atomic.Uint32
}

func startNameServer(t *testing.T) (*nameServer, *net.Resolver) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &nameServer{}
	s.set(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer, err := s.answer(buf[:n]); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return s, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (s *nameServer) set(records map[dnsmessage.Type][]dnsmessage.ResourceBody) {
	s.records.Store(&records)
}

func (s *nameServer) answer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Response, m.Authoritative, m.RCode, m.Additionals = true, true, dnsmessage.RCode(s.code.Load()), nil
	for _, body := range (*s.records.Load())[m.Questions[0].Type] {
		header := dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Type: m.Questions[0].Type, Class: dnsmessage.ClassINET, TTL: 1}
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: body})
	}
	return m.Pack()
}

func TestDNSAddresses(t *testing.T) {
	server, resolver := startNameServer(t)
	d := &DNS{
		Name: "engines.example.com.", Type: TypeA, Port: 30000, Spec: Spec{Labels: map[string]string{"run": "7"}},
		Timeout: 10 * time.Second, Resolver: resolver,
	}
	server.set(map[dnsmessage.Type][]dnsmessage.ResourceBody{
		dnsmessage.TypeA:    {&dnsmessage.AResource{A: [4]byte{10, 0, 0, 4}}, &dnsmessage.AResource{A: [4]byte{10, 0, 0, 3}}},
		dnsmessage.TypeAAAA: {&dnsmessage.AAAAResource{AAAA: [16]byte{0xfd, 15: 7}}},
	})
	found, err := d.Find(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"10.0.0.3:30000", "10.0.0.4:30000", "[fd00::7]:30000"}, namesOf(found))
	assert.Equal(t, []Attribute{{Key: "rl.run.id", Value: "7"}}, found[0].Attributes)

	server.code.Store(uint32(dnsmessage.RCodeServerFailure))
	found, err = d.Find(t.Context())
	require.ErrorContains(t, err, "engines.example.com")
	assert.Len(t, found, 3, "a server that fails says nothing about the engines")

	server.code.Store(uint32(dnsmessage.RCodeNameError))
	server.set(nil)
	found, err = d.Find(t.Context())
	require.NoError(t, err)
	assert.Empty(t, found, "a service without engines has no name")
}

func TestDNSServices(t *testing.T) {
	server, resolver := startNameServer(t)
	d := &DNS{Name: "_metrics._tcp.engines.example.com.", Type: TypeSRV, Timeout: 10 * time.Second, Resolver: resolver}
	server.set(map[dnsmessage.Type][]dnsmessage.ResourceBody{dnsmessage.TypeSRV: {
		&dnsmessage.SRVResource{Port: 30001, Target: dnsmessage.MustNewName("node-2.example.com.")},
		&dnsmessage.SRVResource{Port: 30000, Target: dnsmessage.MustNewName("node-1.example.com.")},
	}})
	found, err := d.Find(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"node-1.example.com:30000", "node-2.example.com:30001"}, namesOf(found))

	server.set(map[dnsmessage.Type][]dnsmessage.ResourceBody{dnsmessage.TypeSRV: {
		&dnsmessage.SRVResource{Port: 0, Target: dnsmessage.MustNewName("node-2.example.com.")},
		&dnsmessage.SRVResource{Port: 30000, Target: dnsmessage.MustNewName("node-1.example.com.")},
	}})
	found, err = d.Find(t.Context())
	require.ErrorContains(t, err, "node-2.example.com:0", "a bad record does not hide the others")
	assert.Equal(t, []string{"node-1.example.com:30000"}, namesOf(found))

	server.set(map[dnsmessage.Type][]dnsmessage.ResourceBody{dnsmessage.TypeSRV: {
		&dnsmessage.SRVResource{Target: dnsmessage.MustNewName(".")},
	}})
	found, err = d.Find(t.Context())
	require.NoError(t, err)
	assert.Empty(t, found, "the service says that it is not there")
}
