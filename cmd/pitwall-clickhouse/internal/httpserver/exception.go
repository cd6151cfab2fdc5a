package httpserver

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/chdb"
)

// Error codes of ClickHouse (src/Common/ErrorCodes.cpp) that the server itself gives.
const (
	codeBadArguments      = 36
	codeSyntax            = 62
	codeReadOnly          = 164
	codeTooManyQueries    = 202
	codeSessionNotFound   = 372
	codeSessionLocked     = 373
	codeSessionTimeout    = 374
	codeAccessDenied      = 497
	codeAuthentication    = 516
	codeRequestTooLarge   = 307 // TOO_MANY_BYTES
	codeCannotDecompress  = 271
	codeUnknownCompressor = 89
	codeBadParameter      = 595
)

func names() map[int]string {
	return map[int]string{
		codeBadArguments: "BAD_ARGUMENTS", codeSyntax: "SYNTAX_ERROR", codeReadOnly: "READONLY",
		codeTooManyQueries: "TOO_MANY_SIMULTANEOUS_QUERIES", codeSessionNotFound: "SESSION_NOT_FOUND",
		codeSessionLocked: "SESSION_IS_LOCKED", codeSessionTimeout: "INVALID_SESSION_TIMEOUT",
		codeAccessDenied: "ACCESS_DENIED", codeAuthentication: "AUTHENTICATION_FAILED",
		codeRequestTooLarge: "TOO_MANY_BYTES", codeCannotDecompress: "CANNOT_DECOMPRESS",
		codeUnknownCompressor: "UNKNOWN_COMPRESSION_METHOD", codeBadParameter: "BAD_REQUEST_PARAMETER",
	}
}

// exception makes an error in the words of a ClickHouse server.
func exception(code int, format string, args ...any) *chdb.Error {
	return &chdb.Error{
		Code:    code,
		Message: fmt.Sprintf("Code: %d. DB::Exception: %s. (%s)", code, fmt.Sprintf(format, args...), names()[code]),
	}
}

// asException gives any error a ClickHouse form, with code 1001 (STD_EXCEPTION)
// when it has none.
func asException(err error) *chdb.Error {
	var e *chdb.Error
	if errors.As(err, &e) && e.Code != 0 {
		return e
	}
	return &chdb.Error{Code: 1001, Message: fmt.Sprintf("Code: 1001. DB::Exception: %s. (STD_EXCEPTION)", err)}
}

// status is the HTTP status a ClickHouse server answers with for an error code
// (src/Server/HTTP/exceptionCodeToHTTPStatus.cpp). Two differ: 503 for
// "try again later" and 413 for what is too large.
func status(code int) int {
	switch code {
	case 194: // REQUIRED_PASSWORD
		return http.StatusUnauthorized
	case 192, 193, codeAuthentication, 512, codeAccessDenied: // unknown user, wrong password, role
		return http.StatusForbidden
	case 6, 25, 26, 27, 38, 41, 72, 675, 676, 677, 441, 376, // CANNOT_PARSE_*
		10, 15, 44, 36, 53, 62, 117, 127, 130, 427, 167, 168, 206, 321, 691, // arguments, columns, syntax, types
		codeBadParameter, codeSessionTimeout, codeCannotDecompress, codeUnknownCompressor:
		return http.StatusBadRequest
	case 46, 47, 50, 56, 60, 63, 64, 73, 78, 81, 115, 511, codeSessionNotFound: // UNKNOWN_*
		return http.StatusNotFound
	case 48:
		return http.StatusNotImplemented
	case 223, codeRequestTooLarge:
		return http.StatusRequestEntityTooLarge
	case 209, 76, 439, codeTooManyQueries: // socket timeout, file, no thread
		return http.StatusServiceUnavailable
	case 159: // TIMEOUT_EXCEEDED
		return http.StatusRequestTimeout
	case codeSessionLocked:
		return http.StatusLocked
	}
	return http.StatusInternalServerError
}
