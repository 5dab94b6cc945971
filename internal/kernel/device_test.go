package kernel

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDeviceName(t *testing.T) {
	sysfs := t.TempDir()
	dir := filepath.Join(sysfs, "dev/block/254:1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "MAJOR=254\nMINOR=1\nDEVNAME=vda1\nDEVTYPE=partition\n"
	if err := os.WriteFile(filepath.Join(dir, "uevent"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dev  uint32
		want string
	}{{254<<20 | 1, "vda1"}, {8 << 20, "8,0"}, {0, "0,0"}, {1<<32 - 1, "4095,1048575"}} {
		if got := deviceName(sysfs, tt.dev); got != tt.want {
			t.Errorf("%#x: %s, want %s", tt.dev, got, tt.want)
		}
	}
}
