package kernel

// Features, what the compiler may use of the kernel: a method for each that was tried.

// AllFeatures are those of the newest kernels.
func AllFeatures() Features {
	return Features{Kprobe: true, KprobeMulti: true, KprobesCount: true, KprobeSession: true, Uprobe: true,
		UprobeMulti: true, UprobesOfProcess: true, UprobeSession: true, Cookies: true}
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

// TryFunction says why the kernel does not let a function be probed; nil if it does, or
// if nobody knows.
func (f *Facts) TryFunction(name string) error {
	switch {
	case f.opts.TryFunction == nil:
		return nil
	case !f.Features().Kprobe:
		return nil
	}
	return f.opts.TryFunction(name)
}
