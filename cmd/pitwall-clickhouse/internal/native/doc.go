// Package native rewrites ClickHouse's Native format from revision 0, in which
// the embedded engine writes it, to the revision that a client asked for with
// client_protocol_version. Newer revisions carry a block header and a byte per
// column more, and there is no telling where they belong without reading the columns.
package native
