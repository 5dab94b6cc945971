package elffile

// Functions of Go's runtime that are called where a signal interrupted.

// GoInjected are the functions of Go's runtime that nobody calls: the runtime lets a goroutine call them where a signal
// has interrupted it. They return to the instruction that was interrupted, and not behind a call.
func GoInjected() []string {
	return []string{"runtime.sigpanic", "runtime.sigpanic0", "runtime.asyncPreempt", "runtime.debugCallV2"}
}
