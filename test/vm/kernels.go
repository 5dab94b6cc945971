package main

import (
	"fmt"
	"slices"
	"strings"
)

// kernel is one kernel of the support table and where Debian has it.
type kernel struct {
	version  string   // as the user names it: "6.12"
	suites   []string // of Debian, those that may hold it
	packages []string // regular expressions for apt-cache, all of the same release; %s is the release
}

// image is the pattern of a package that holds vmlinuz and modules; since 7.2 they are split in two.
const image = "linux-image-%s-cloud-amd64"

// The oldest kernel to support, the stable ones of Debian, a current backport and the newest.
var kernels = []kernel{
	{"5.10", []string{"bullseye", "bullseye-security"}, []string{image + "-unsigned"}},
	{"6.1", []string{"bookworm", "bookworm-security"}, []string{image + "-unsigned"}},
	{"6.12", []string{"trixie", "trixie-security"}, []string{image + "-unsigned"}},
	{"6.18", []string{"trixie-backports"}, []string{image}},
	{"7.2", []string{"sid"}, []string{"linux-binary-%s-cloud-amd64", "linux-modules-%s-cloud-amd64"}},
}

// choose returns the kernels of a comma-separated list of versions; "all" is all of them.
func choose(list string) ([]kernel, error) {
	if list == "all" {
		return kernels, nil
	}
	var chosen []kernel
	for version := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(kernels, func(k kernel) bool { return k.version == version })
		if i < 0 {
			return nil, fmt.Errorf("no kernel %q: there are %s", version, strings.Join(versions(), ", "))
		}
		chosen = append(chosen, kernels[i])
	}
	return chosen, nil
}

func versions() []string {
	names := make([]string, len(kernels))
	for i, k := range kernels {
		names[i] = k.version
	}
	return names
}

// suites returns every suite that some kernel comes from, once.
func suites() []string {
	var all []string
	for _, k := range kernels {
		all = append(all, k.suites...)
	}
	return all
}
