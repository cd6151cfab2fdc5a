// Package scrape gets one page of metrics by HTTP, from a server that may be slow, endless, compromised or something else
// altogether. Time, bytes on the wire, bytes after decompression, redirects and the text of errors are all bounded.
//
// What bites: the Accept header is not the usual one. client_python 0.23 to 0.25 answer OpenMetrics with names that do
// not fit together, so text is asked for, and vLLM and the routers answer text whatever is asked. No error holds an
// address: addresses hold credentials, and the caller knows which target it asked.
package scrape
