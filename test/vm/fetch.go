package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The kernels of guests, kept between runs.

// cache keeps kernels between runs: kernels/VERSION holds vmlinuz, release and modules/ once it is complete,
// and busybox if this machine's does not run there.
type cache struct{ dir string }

// fetched is a kernel on this machine, ready to boot.
type fetched struct {
	kernel
	release string // of the package: "6.12.117+deb13"
	dir     string // holds vmlinuz and modules/
}

func (f fetched) vmlinuz() string { return filepath.Join(f.dir, "vmlinuz") }

func userCache() (cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return cache{}, err
	}
	return cache{filepath.Join(dir, "startrace-vm")}, nil
}

// fetch returns all of the kernels, and downloads those that are missing (all of them with renew).
func (c cache) fetch(list []kernel, renew bool) ([]fetched, error) {
	updated := map[string]bool{}
	var ready []fetched
	for _, k := range list {
		f, ok := c.have(k)
		if !ok || renew {
			apt := aptRoot{filepath.Join(c.dir, "apt", k.arch.name), k.arch}
			if !updated[k.arch.name] {
				if err := apt.update(); err != nil {
					return nil, err
				}
				updated[k.arch.name] = true
			}
			var err error
			if f, err = c.download(apt, k); err != nil {
				return nil, fmt.Errorf("kernel %s: %w", k.version, err)
			}
		}
		ready = append(ready, f)
	}
	return ready, nil
}

// have says whether k lies in the cache. The file release is written last.
func (c cache) have(k kernel) (fetched, bool) {
	dir := filepath.Join(c.dir, "kernels", k.version)
	release, err := os.ReadFile(filepath.Join(dir, "release"))
	return fetched{k, strings.TrimSpace(string(release)), dir}, err == nil
}

// download tries the releases of k, newest first, until the mirror has all packages of one.
func (c cache) download(apt aptRoot, k kernel) (fetched, error) {
	releases, err := apt.candidates(k)
	if err != nil {
		return fetched{}, err
	}
	var failed []error
	for _, release := range releases {
		f, err := c.unpack(apt, k, release)
		if err == nil {
			return f, nil
		}
		failed = append(failed, err)
	}
	return fetched{}, errors.Join(failed...)
}

// unpack downloads one release of k and takes out of its packages what the cache keeps.
func (c cache) unpack(apt aptRoot, k kernel, release string) (fetched, error) {
	dir := filepath.Join(c.dir, "kernels", k.version)
	if err := os.RemoveAll(dir); err != nil {
		return fetched{}, err
	}
	debs := filepath.Join(dir, "debs")
	packages := k.packages
	if !k.arch.own() {
		packages = append(slices.Clone(packages), "busybox-static")
	}
	for _, pattern := range packages {
		deb, err := apt.download(strings.ReplaceAll(pattern, "%s", release), debs)
		if err != nil {
			return fetched{}, err
		}
		if err := extract(deb, dir); err != nil {
			return fetched{}, fmt.Errorf("extract %s: %w", filepath.Base(deb), err)
		}
	}
	if err := os.RemoveAll(debs); err != nil {
		return fetched{}, err
	}
	if _, err := os.Stat(filepath.Join(dir, "vmlinuz")); err != nil {
		return fetched{}, fmt.Errorf("the packages of %s hold no vmlinuz: %w", release, err)
	}
	err := os.WriteFile(filepath.Join(dir, "release"), []byte(release+"\n"), 0o644)
	fmt.Fprintf(os.Stderr, "vm: fetched kernel %s\n", release)
	return fetched{k, release, dir}, err
}

// extract copies vmlinuz, busybox and all modules of a package into dir, the modules flat below modules/: names are
// unique.
func extract(deb, dir string) error {
	cmd := exec.Command("dpkg-deb", "--fsys-tarfile", deb)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := extractTar(pipe, dir); err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return cmd.Wait()
}

func extractTar(from io.Reader, dir string) error {
	archive := tar.NewReader(from)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, from)
			return err
		}
		if err != nil {
			return err
		}
		base := filepath.Base(header.Name)
		switch {
		case header.Typeflag != tar.TypeReg:
		case header.Name == "./usr/bin/busybox":
			err = writeFile(filepath.Join(dir, base), archive)
		case strings.HasPrefix(base, "vmlinuz"):
			err = writeFile(filepath.Join(dir, "vmlinuz"), archive)
		case strings.Contains(base, ".ko"):
			err = writeFile(filepath.Join(dir, "modules", base), archive)
		}
		if err != nil {
			return err
		}
	}
}

// writeFile copies from into a new file, whose folder it makes.
func writeFile(name string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
