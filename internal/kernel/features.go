package kernel

// Features says which ways to probe functions this kernel has. They are found
// by trying (internal/attach), for distributions carry features back.
type Features struct {
	// Kprobe: kernel functions can be probed by breakpoints or ftrace (CONFIG_KPROBES).
	Kprobe bool
	// KprobeMulti: one link probes many functions (5.18, CONFIG_FPROBE).
	KprobeMulti bool
	// KprobesCount: such a link counts the calls that it does not follow to their
	// return (link_info of kprobe_multi, 6.7).
	KprobesCount bool
	// KprobeSession: such a link runs one program at the entry and at the return
	// (6.10), which decides at the entry whether it does at the return.
	KprobeSession bool
	// Uprobe: user functions can be probed (CONFIG_UPROBES).
	Uprobe bool
	// UprobeMulti: one link probes many places of a binary (6.6).
	UprobeMulti bool
	// UprobeSession: such a link runs one program at the entry and at the return
	// (6.13), as KprobeSession does.
	UprobeSession bool
	// Cookies: a program learns at which of its places it runs
	// (bpf_get_attach_cookie, 5.15).
	Cookies bool
	// Why has the reason where Kprobe or Uprobe is missing, for messages.
	Why map[string]string
}

// Trampolines says whether programs can be attached by trampolines at kernel
// functions (5.5; Debian's 5.10 has them).
type Trampolines struct {
	There bool
	Why   string // where they are missing, for messages
	// Denied: this process may not load programs, so that what seems missing may
	// be there.
	Denied bool
}

// AllFeatures are those of the newest kernels.
func AllFeatures() Features {
	return Features{Kprobe: true, KprobeMulti: true, KprobesCount: true, KprobeSession: true, Uprobe: true,
		UprobeMulti: true, UprobeSession: true, Cookies: true}
}

// Features gives what Options.Features found; without that, as with fixtures,
// all are there.
func (f *Facts) Features() Features {
	f.featuresOnce.Do(func() {
		f.features = AllFeatures()
		if f.earlier != nil {
			f.features = f.earlier.Features()
		} else if f.opts.Features != nil {
			f.features = f.opts.Features()
		}
	})
	return f.features
}

// Trampolines gives what Options.Trampolines found; without that they are there.
// It is apart from Features because a try has the kernel change its code, and waits
// for that.
func (f *Facts) Trampolines() Trampolines {
	f.trampolinesOnce.Do(func() {
		f.trampolines.There = true
		if f.earlier != nil {
			f.trampolines = f.earlier.Trampolines()
		} else if f.opts.Trampolines != nil {
			f.trampolines = f.opts.Trampolines()
		}
	})
	return f.trampolines
}
