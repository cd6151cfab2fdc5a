package enginetest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFreeAddress_GivenOnceAndFree(t *testing.T) {
	const addresses = 400 // of 22,768 ports: drawn without reservation, two of them would be the same 97 times in 100
	given := map[string]bool{}
	for range addresses {
		address := FreeAddress(t)
		listener, err := net.Listen("tcp", address)
		require.NoError(t, err)
		require.NoError(t, listener.Close())
		given[address] = true
	}
	assert.Len(t, given, addresses)
}
