package main

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// certificate is a key pair that is read again when one of its files has changed.
// A pair that cannot be read, half written perhaps, leaves the last good one in use.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	pair    *tls.Certificate
	changed [2]time.Time
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := [2]time.Time{changeTime(c.certFile), changeTime(c.keyFile)}
	if c.pair != nil && changed == c.changed {
		return c.pair, nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.pair, c.changed = &pair, changed
	} else if c.pair == nil {
		return nil, err
	}
	return c.pair, nil
}

func changeTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
