// Package seldom makes loggers that say each message once a minute: trouble that lasts must be seen, not fill the disk.
//
// It goes by time that passes, not by the wall clock as zap's sampler does: that is silent until the time before a clock
// was set back has come again. What bites: messages must be constant, and what varies belongs in fields.
package seldom
