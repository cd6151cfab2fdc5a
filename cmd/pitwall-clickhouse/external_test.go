package main

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// form posts fields (a name without a dot) and files (name.file), in order.
func (h *helper) form(params []string, parts ...string) answer {
	h.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		name, isFile := strings.CutSuffix(parts[i], ".file")
		create := w.CreateFormField
		if isFile {
			create = func(name string) (io.Writer, error) { return w.CreateFormFile(name, name) }
		}
		part, err := create(name)
		require.NoError(h.t, err)
		_, err = part.Write([]byte(parts[i+1]))
		require.NoError(h.t, err)
	}
	require.NoError(h.t, w.Close())
	return h.request(http.MethodPost, &b, map[string]string{"Content-Type": w.FormDataContentType()}, params...)
}

func TestExternalTables(t *testing.T) {
	h := start(t, t.TempDir())
	sum := "SELECT sum(_1), any(_2) FROM ids"
	a := h.form([]string{"query=" + sum, "ids_types=UInt8,Map(String, UInt8)"}, "ids.file", "1\t{'a':1}\n2\t{'a':1}\n")
	assert.Equal(t, "3\t{'a':1}\n", a.body)
	a = h.form([]string{"ids_structure=id UInt8, file String", "ids_format=CSV"}, "ids.file", "4,x\n5,y\n", "query", "SELECT sum(id), max(file) FROM ids")
	assert.Equal(t, "9\ty\n", a.body, "the statement behind the table")
	a = h.form([]string{"query=SELECT {n:UInt8}"}, "param_n", "7")
	assert.Equal(t, "7\n", a.body, "a parameter in the form")
	a = h.form([]string{"query=SELECT a.x, b.x FROM a, b", "a_structure=x UInt8", "b_structure=x UInt8", "session_id=s"}, "a.file", "1\n", "b.file", "2\n")
	assert.Equal(t, "1\t2\n", a.body)
	h.refused(404, 60, "SELECT * FROM a", "session_id=s")

	a = h.form([]string{"query=SELECT * FROM x"}, "x.file", "1\n")
	assert.Equal(t, 400, a.status)
	assert.Contains(t, a.body, "x_structure")
	a = h.form([]string{"query=SELECT * FROM x", "x_structure=a UInt8) ENGINE = File(CSV, '/etc/passwd'"}, "x.file", "1\n")
	assert.Equal(t, 403, a.status, a.body)
	a = h.form([]string{"query=SELECT * FROM x", "x_structure=a UInt8); DROP TABLE t; --"}, "x.file", "1\n")
	assert.Equal(t, 400, a.status, a.body)
	a = h.form([]string{"query=SELECT * FROM x", "x_structure=a UInt8"}, "x.file", "not a number\n")
	assert.Equal(t, "27", a.header.Get("X-ClickHouse-Exception-Code"))

	var many, structures []string
	for i := range 33 {
		many = append(many, fmt.Sprintf("t%d.file", i), "1\n")
		structures = append(structures, fmt.Sprintf("t%d_structure=a UInt8", i))
	}
	assert.Equal(t, 413, h.form(append(structures, "query=SELECT 1"), many...).status, "tables are counted")
	large := strings.Repeat("1\n", 33<<20)
	assert.Equal(t, 413, h.form([]string{"query=SELECT 1", "x_structure=a UInt8"}, "x.file", large).status, "and measured")
	assert.Equal(t, "1", h.query("SELECT 1"))
}
