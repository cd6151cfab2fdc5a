package nvml

import "time"

// EventKind is what happened.
type EventKind uint8

// Up to EventRecoveryAction the driver says it (nvmlEventType*), from EventLost on the client does, by comparing what
// it finds with what it found before.
const (
	EventXid                   EventKind = iota + 1 // Event.Data is the Xid
	EventDoubleBitECC                               // data was lost
	EventMIGConfig                                  // the split into MIG devices changed
	EventSingleBitECCStorm                          // many repaired errors
	EventDRAMRetirement                             // a page or row was taken out of use
	EventDRAMRetirementFailure                      // and could not be
	EventNonFatalPoison
	EventFatalPoison
	EventUnavailable
	EventRecoveryAction // another one is asked for, see the field RecoveryAction

	EventLost          // the GPU fell off the bus, or is not listed any more
	EventFound         // a GPU is there that was not, or is back; not for those found first
	EventStale         // the driver does not answer for it
	EventAnswers       // it does again
	EventMIGChanged    // the MIG devices found on the GPU are others than before
	EventHelperStarted // the helper ended and was started again: counters of events may have a gap
)

// Event is something that happened. Key.Index is -1 when the driver did not say to which GPU.
type Event struct {
	Kind     EventKind
	Time     time.Time // when the helper or the client heard of it
	Key      Key
	UUID     string
	PCIBusID string
	Data     uint64 // the Xid for EventXid, else 0
	// GPUInstance and ComputeInstance of an EventXid on a MIG device, else -1.
	GPUInstance     int
	ComputeInstance int
	Text            string // more words, such as the error of EventLost
}
