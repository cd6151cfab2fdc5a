package enginetest

import (
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddress returns a TCP address of this machine that is free now and given to no other test, of this process or
// another, until this one ends. Its port is below those that the kernel gives to clients, ip_local_port_range(7), so that
// nobody takes it before it is used or while what uses it is being restarted.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const low, high = 10_000, 32_768
	for range 1000 {
		port := low + rand.IntN(high-low)
		// The UDP socket of the same number, which nothing here needs, is what says that the port is given away.
		reservation, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err != nil {
			continue
		}
		listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err != nil {
			_ = reservation.Close()
			continue
		}
		t.Cleanup(func() { _ = reservation.Close() })
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return listener.Addr().String()
	}
	t.Fatal("no free port")
	return ""
}
