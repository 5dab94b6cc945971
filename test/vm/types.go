package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// -types: the BTF of each kernel written to a folder.

// writeTypes writes the BTF of each kernel to dir/VERSION.btf, without booting it.
func writeTypes(dir string, list []fetched) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, k := range list {
		types, err := k.types()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, k.version+".btf"), types, 0o644)
		}
		if err != nil {
			return fmt.Errorf("types of kernel %s: %w", k.version, err)
		}
	}
	return nil
}

// types gives the section .BTF of the ELF file that is packed into vmlinuz.
func (f fetched) types() ([]byte, error) {
	image, err := os.ReadFile(f.vmlinuz())
	if err != nil {
		return nil, err
	}
	packed, err := payload(image)
	if err != nil {
		return nil, err
	}
	plain, err := unpacked(packed)
	if err != nil {
		return nil, err
	}
	file, err := elf.NewFile(bytes.NewReader(plain))
	if err != nil {
		return nil, err
	}
	section := file.Section(".BTF")
	if section == nil {
		return nil, errors.New("the kernel has no section .BTF (CONFIG_DEBUG_INFO_BTF)")
	}
	return section.Data()
}

// payload is the packed kernel of a bzImage of x86: where it begins and how long it is stands in the header (fields
// setup_sects, payload_offset and payload_length of Documentation/arch/x86/boot.rst). Its last four bytes are the size
// of the kernel, which gzip has anyway and the other packers do not expect.
func payload(image []byte) ([]byte, error) {
	if len(image) < 0x250 || string(image[0x202:0x206]) != "HdrS" {
		return nil, errors.New("vmlinuz is no bzImage")
	}
	begin := (int(image[0x1f1])+1)*512 + int(binary.LittleEndian.Uint32(image[0x248:]))
	end := begin + int(binary.LittleEndian.Uint32(image[0x24c:]))
	if begin > end-4 || end > len(image) {
		return nil, errors.New("the header of vmlinuz points behind its end")
	}
	return image[begin : end-4], nil
}

// packers are the commands that unpack what begins with some bytes.
var packers = []struct{ magic, command string }{
	{"\x02\x21\x4c\x18", "lz4"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"\xfd7zXZ\x00", "xz"}, {"\x1f\x8b", "gzip"},
}

func unpacked(packed []byte) ([]byte, error) {
	for _, p := range packers {
		if !bytes.HasPrefix(packed, []byte(p.magic)) {
			continue
		}
		cmd := exec.Command(p.command, "-dc")
		cmd.Stdin = bytes.NewReader(packed)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s -dc: %w: %s", p.command, err, stderr.Bytes())
		}
		return out, nil
	}
	return nil, fmt.Errorf("vmlinuz is packed in a way that is not known: it begins with % x",
		packed[:min(8, len(packed))])
}
