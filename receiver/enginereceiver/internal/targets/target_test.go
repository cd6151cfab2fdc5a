package targets

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSpecNamesOnePage(t *testing.T) {
	f := func(spec Spec, wantURL, wantName string) {
		t.Helper()
		got, err := spec.Target("static")
		require.NoError(t, err)
		assert.Equal(t, wantURL, got.URL)
		assert.Equal(t, wantName, got.Name)
	}
	f(Spec{Endpoint: "10.0.0.3:30000"}, "http://10.0.0.3:30000/metrics", "10.0.0.3:30000")
	f(Spec{Endpoint: "http://10.0.0.3:30000"}, "http://10.0.0.3:30000/metrics", "10.0.0.3:30000")
	f(Spec{Endpoint: "http://10.0.0.3:30000/"}, "http://10.0.0.3:30000/metrics", "10.0.0.3:30000")
	f(Spec{Endpoint: "https://Node-7.example"}, "https://node-7.example:443/metrics", "node-7.example:443")
	f(Spec{Endpoint: "http://node-7"}, "http://node-7:80/metrics", "node-7:80")
	f(Spec{Endpoint: "[::1]:30000"}, "http://[::1]:30000/metrics", "[::1]:30000")
	f(Spec{Endpoint: "10.0.0.3:3000", Kind: KindRouter}, "http://10.0.0.3:3000/engine_metrics", "10.0.0.3:3000/engine_metrics")
	f(Spec{Endpoint: "10.0.0.3:29000", Kind: KindGateway}, "http://10.0.0.3:29000/metrics", "10.0.0.3:29000")
	f(Spec{Endpoint: "10.0.0.3:80", MetricsPath: "/engine1/metrics"}, "http://10.0.0.3:80/engine1/metrics", "10.0.0.3:80/engine1/metrics")
	f(Spec{Endpoint: "http://10.0.0.3:80/engine1/metrics"}, "http://10.0.0.3:80/engine1/metrics", "10.0.0.3:80/engine1/metrics")
	// Credentials and queries are asked with, and shown nowhere.
	f(Spec{Endpoint: "http://ops:secret@10.0.0.3:30000/metrics?token=secret#part"},
		"http://ops:secret@10.0.0.3:30000/metrics?token=secret", "10.0.0.3:30000")
	f(Spec{Endpoint: "10.0.0.3:30000", MetricsPath: "/metrics?token=secret"}, "http://10.0.0.3:30000/metrics?token=secret", "10.0.0.3:30000")
}

func TestSpecSaysWhatIsWrong(t *testing.T) {
	f := func(spec Spec, want string) {
		t.Helper()
		_, err := spec.Target("static")
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret")
	}
	f(Spec{}, "'endpoint' is missing")
	f(Spec{Endpoint: "ftp://10.0.0.3:21"}, `the scheme "ftp"`)
	f(Spec{Endpoint: "grpc://10.0.0.3:21"}, `the scheme "grpc"`)
	f(Spec{Endpoint: "http://user:secret@[::1"}, "neither host:port nor an http URL")
	f(Spec{Endpoint: "http://user:secret@:30000"}, "no host")
	f(Spec{Endpoint: "10.0.0.3:99999"}, "port from 1 to 65535")
	f(Spec{Endpoint: "10.0.0.3:0"}, "port from 1 to 65535")
	f(Spec{Endpoint: "10.0.0.3:30000", Kind: "tgi"}, `'kind' must be one of auto, sglang, vllm, router, gateway, not "tgi"`)
	f(Spec{Endpoint: "10.0.0.3:30000", MetricsPath: "metrics"}, "'metrics_path'")
	f(Spec{Endpoint: "10.0.0.3:30000", MetricsPath: "http://elsewhere/metrics"}, "'metrics_path'")
	f(Spec{Endpoint: "10.0.0.3:30000", MetricsPath: "//elsewhere/metrics"}, "'metrics_path'")
	f(Spec{Endpoint: string(make([]byte, 5000))}, "5000 bytes")
	f(Spec{Endpoint: "a:1", Labels: map[string]string{"replica": "first"}}, `"replica" must be an integer`)
	f(Spec{Endpoint: "a:1", Labels: map[string]string{"run": "a", "rl.run.id": "b"}}, `two labels are the attribute "rl.run.id"`)
	f(Spec{Endpoint: "a:1", Labels: map[string]string{"run": string(make([]byte, 600))}}, `label "run"`)
	f(Spec{Endpoint: "a:1", Labels: map[string]string{"run": "\xff"}}, `label "run" must be UTF-8`)
}

func TestLabelsBecomeAttributes(t *testing.T) {
	f := func(labels map[string]string, want ...Attribute) {
		t.Helper()
		spec := Spec{Endpoint: "a:1", Labels: labels}
		got, err := spec.Target("static")
		require.NoError(t, err)
		assert.Equal(t, want, got.Attributes)
	}
	f(map[string]string{"run": "7", "attempt": "2", "role": "prefill", "replica": "3", "group": "policy", "host": "node-7"},
		Attribute{Key: "host.name", Value: "node-7"},
		Attribute{Key: "inference.role", Value: "prefill"},
		Attribute{Key: "rl.replica.id", Value: "3", Number: true},
		Attribute{Key: "rl.run.attempt", Value: "2", Number: true},
		Attribute{Key: "rl.run.id", Value: "7"},
		Attribute{Key: "rl.worker.group", Value: "policy"})
	f(map[string]string{"role": "reward"}, Attribute{Key: "rl.role", Value: "reward"})
	f(map[string]string{"deployment.environment.name": "staging", "__meta_docker": "x", "run": ""},
		Attribute{Key: "deployment.environment.name", Value: "staging"})
}

func FuzzSpec(f *testing.F) {
	f.Add("10.0.0.3:30000", "/metrics", "run", "7")
	f.Add("http://u:p@[::1]:1/x?y#z", "", "replica", "3")
	f.Fuzz(func(t *testing.T, endpoint, path, name, value string) {
		spec := Spec{Endpoint: endpoint, MetricsPath: path, Labels: map[string]string{name: value}}
		got, err := spec.Target("static")
		if err != nil {
			return
		}
		// Who asks at the address that is shown reaches the page that was meant.
		again := Spec{Endpoint: got.Address, MetricsPath: got.Path, Labels: spec.Labels}
		second, err := again.Target("static")
		require.NoError(t, err)
		assert.Equal(t, got.Name, second.Name)
	})
}
