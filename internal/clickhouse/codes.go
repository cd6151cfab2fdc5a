package clickhouse

const (
	codeUnknownTable    = 60
	codeUnknownDatabase = 81
	codeTooManyParts    = 252
	codeAccessDenied    = 497
)

// codeClass returns the class of a ClickHouse error code. Codes and names: `SELECT errorCodeToName(n)` on 26.7.
//
// Only codes that blame the rows are permanent, and only when a cut or damaged transfer cannot cause them (those
// have codes of their own: 3, 32, 33, 40). What blames the statement, the table or the account would hit every
// block alike, so it is configuration: the rows wait for the repair.
func codeClass(code int) Class {
	switch code {
	// The rows.
	case
		6,   // CANNOT_PARSE_TEXT
		7,   // INCORRECT_NUMBER_OF_COLUMNS
		8,   // THERE_IS_NO_COLUMN
		9,   // SIZES_OF_COLUMNS_DOESNT_MATCH: a block whose columns differ in length
		10,  // NOT_FOUND_COLUMN_IN_BLOCK
		15,  // DUPLICATE_COLUMN
		16,  // NO_SUCH_COLUMN_IN_TABLE: design section 3 counts it with the data
		20,  // NUMBER_OF_COLUMNS_DOESNT_MATCH
		26,  // CANNOT_PARSE_QUOTED_STRING
		27,  // CANNOT_PARSE_INPUT_ASSERTION_FAILED
		38,  // CANNOT_PARSE_DATE
		41,  // CANNOT_PARSE_DATETIME
		43,  // ILLEGAL_TYPE_OF_ARGUMENT
		44,  // ILLEGAL_COLUMN
		50,  // UNKNOWN_TYPE: in a block's header
		53,  // TYPE_MISMATCH
		69,  // ARGUMENT_OUT_OF_BOUND: a month the partition key cannot hold
		70,  // CANNOT_CONVERT_TYPE
		72,  // CANNOT_PARSE_NUMBER
		117, // INCORRECT_DATA
		122, // INCOMPATIBLE_COLUMNS
		128, // TOO_LARGE_ARRAY_SIZE
		130, // CANNOT_READ_ARRAY_FROM_TEXT
		131, // TOO_LARGE_STRING_SIZE
		190, // SIZES_OF_ARRAYS_DONT_MATCH
		248, // INVALID_PARTITION_VALUE
		261, // UNKNOWN_BLOCK_INFO_FIELD
		321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
		349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
		469: // VIOLATED_CONSTRAINT
		return Permanent

	// The account.
	case
		164, // READONLY: a read-only account
		192, // UNKNOWN_USER
		193, // WRONG_PASSWORD
		194, // REQUIRED_PASSWORD
		195, // IP_ADDRESS_NOT_ALLOWED
		291, // DATABASE_ACCESS_DENIED
		392, // QUERY_IS_PROHIBITED
		452, // SETTING_CONSTRAINT_VIOLATION: the account's profile forbids one of our settings
		497, // ACCESS_DENIED
		516, // AUTHENTICATION_FAILED
		620, // QUERY_NOT_ALLOWED
		720, // USER_EXPIRED
		767: // REQUIRED_SECOND_FACTOR
		return Configuration

	// The server's or the table's set-up.
	case
		36,  // BAD_ARGUMENTS
		46,  // UNKNOWN_FUNCTION: an old server
		48,  // NOT_IMPLEMENTED: the table's engine takes no INSERT, or no ALTER
		54,  // STORAGE_DOESNT_ALLOW_PARAMETERS
		56,  // UNKNOWN_STORAGE
		60,  // UNKNOWN_TABLE
		62,  // SYNTAX_ERROR: an old server, since the statements are ours
		73,  // UNKNOWN_FORMAT
		80,  // INCORRECT_QUERY
		81,  // UNKNOWN_DATABASE
		115, // UNKNOWN_SETTING: an old server
		170, // BAD_GET: what older servers say for an unknown cluster
		344, // SUPPORT_IS_DISABLED
		371, // INCONSISTENT_CLUSTER_DEFINITION
		431, // ILLEGAL_SYNTAX_FOR_CODEC_TYPE
		432, // UNKNOWN_CODEC
		701, // CLUSTER_DOESNT_EXIST
		764: // DEDUPLICATION_IS_NOT_POSSIBLE
		return Configuration
	}
	// Everything else passes or is unknown. Known to pass: 3, 32, 33 (the body was cut on its way), 40 (damaged on
	// its way: checksum), 95, 96, 159, 209, 210 (sockets and timeouts), 173, 241 (memory), 198 (name look-up), 201
	// (a quota's interval ends), 202, 203, 252, 364, 574, 692, 700, 745, 749, 762 (too much at once), 204, 243,
	// 499 (disk full or object store), 225, 242, 254, 279, 285, 286, 297, 319, 999 (replicas and Keeper; 319 leaves
	// open whether rows are in, which the token settles), 236, 394, 735 (cancelled: a server shutting down), 305,
	// 384, 473, 517, 529, 571, 733, 738 (others alter the table at this moment), 425, 439 (no more threads).
	return Retryable
}
