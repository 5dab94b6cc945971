package kernel

// Features says which ways to probe functions this kernel has. They are found
// by trying (internal/attach), for distributions carry features back.
type Features struct {
	// Kprobe: kernel functions can be probed by breakpoints or ftrace (CONFIG_KPROBES).
	Kprobe bool
	// KprobeMulti: one link probes many functions (5.18, CONFIG_FPROBE).
	KprobeMulti bool
	// Fentry: trampolines at kernel functions (5.5; Debian's 5.10 has them).
	Fentry bool
	// Uprobe: user functions can be probed (CONFIG_UPROBES).
	Uprobe bool
	// UprobeMulti: one link probes many places of a binary (6.6).
	UprobeMulti bool
	// Cookies: a program learns at which of its places it runs
	// (bpf_get_attach_cookie, 5.15).
	Cookies bool
	// Denied: this process may not load programs, so that what seems missing may
	// be there.
	Denied bool
	// Why has the reason where one of the first four is missing, for messages.
	Why map[string]string
}

// AllFeatures are those of the newest kernels.
func AllFeatures() Features {
	return Features{Kprobe: true, KprobeMulti: true, Fentry: true, Uprobe: true, UprobeMulti: true, Cookies: true}
}

// Features gives what Options.Features found; without that, as with fixtures,
// all are there.
func (f *Facts) Features() Features {
	f.featuresOnce.Do(func() {
		f.features = AllFeatures()
		if f.opts.Features != nil {
			f.features = f.opts.Features()
		}
	})
	return f.features
}
