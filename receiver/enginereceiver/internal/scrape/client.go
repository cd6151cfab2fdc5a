package scrape

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
)

const (
	accept = "text/plain;version=0.0.4;q=1,*/*;q=0.1"
	// maxRedirects is enough for /metrics to /metrics/ and a proxy's own.
	maxRedirects = 3
)

// Options bound one request.
type Options struct {
	// Timeout is for all of it, from the connection to the last byte. A router asks its workers for up to 10 s.
	Timeout time.Duration
	// MaxBytes bounds the body after decompression.
	MaxBytes int64
	// Confidential says that the client adds headers or credentials: then errors show nothing of an answer, since servers
	// repeat what they were asked with.
	Confidential bool
}

// DefaultOptions fit a router in front of 64 engines.
func DefaultOptions() Options { return Options{Timeout: 15 * time.Second, MaxBytes: 64 << 20} }

// Client gets pages. It keeps the buffers of pages that were released for the next ones; it is safe for concurrent use.
type Client struct {
	http    http.Client
	options Options
	buffers sync.Pool // of *[]byte
	unzip   sync.Pool // of *gzip.Reader
}

// NewClient returns a client that sends by the given one, which brings TLS, headers and authentication.
func NewClient(client *http.Client, options Options) *Client {
	c := &Client{http: *client, options: options}
	c.http.Timeout = 0 // Options.Timeout instead
	c.http.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if from := via[0].URL; req.URL.Scheme != from.Scheme || !strings.EqualFold(req.URL.Host, from.Host) {
			return errElsewhere
		}
		if len(via) > maxRedirects {
			return errLoop
		}
		return nil
	}
	return c
}

// Page is an answer with status 200.
type Page struct {
	// Body is decompressed, and good until Release.
	Body        []byte
	ContentType string
	// Duration is the time from the request to the end of the body.
	Duration time.Duration
	// WireBytes are those of the body as it was sent, Bytes those after decompression.
	WireBytes, Bytes int64
	// Truncated is set when the body went on after MaxBytes. Body then ends before the last family that began within
	// them, because part of a histogram is worse than none; in a body without metadata lines, after the last whole line.
	Truncated bool

	buffer *[]byte
}

// Release takes back the page's buffer.
func (c *Client) Release(page *Page) {
	if page.buffer != nil {
		*page.buffer = page.Body[:0]
		c.buffers.Put(page.buffer)
	}
	page.Body, page.buffer = nil, nil
}

// Get asks for a page. The error is an [*Error].
func (c *Client) Get(ctx context.Context, address string) (*Page, error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil || req.URL.Host == "" || (req.URL.Scheme != "http" && req.URL.Scheme != "https") {
		return nil, &Error{Kind: Address, cause: errAddress} // what url.Parse says quotes the address
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer resp.Body.Close()
	wire := &counter{Reader: resp.Body}
	page, failed := c.page(ctx, resp, wire)
	if failed != nil {
		failed.Status = resp.StatusCode
		if c.options.Confidential || req.URL.User != nil || req.URL.RawQuery != "" {
			failed.Excerpt = ""
		}
		return nil, failed
	}
	page.ContentType = resp.Header.Get("Content-Type")
	page.WireBytes, page.Duration = wire.bytes, time.Since(start)
	return page, nil
}

func (c *Client) page(ctx context.Context, resp *http.Response, wire *counter) (*Page, *Error) {
	body, done, failed := c.decoded(ctx, resp, wire)
	if failed != nil {
		return nil, failed
	}
	defer done()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(body, 4*excerptBytes+1))
		return nil, &Error{Kind: Status, Excerpt: oneLine(text), cause: fmt.Errorf("the answer is %d", resp.StatusCode)}
	}
	page := &Page{buffer: c.buffer()}
	var err error
	page.Body, err = appendAll((*page.buffer)[:0], body, c.options.MaxBytes, resp.ContentLength)
	page.Bytes = int64(len(page.Body))
	switch {
	case err != nil:
		c.Release(page)
		return nil, broken(ctx, err)
	case page.Bytes > c.options.MaxBytes:
		page.Truncated = true
		if page.Body = wholeFamilies(page.Body[:c.options.MaxBytes]); len(page.Body) == 0 {
			c.Release(page)
			return nil, &Error{Kind: Size, cause: errTooLarge}
		}
	}
	if exposition.IsHTML(page.Body) {
		failed := &Error{Kind: HTML, Excerpt: oneLine(page.Body), cause: exposition.ErrHTML}
		c.Release(page)
		return nil, failed
	}
	return page, nil
}
