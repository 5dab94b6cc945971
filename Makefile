# make            build bin/startrace
# make install    it, the man page and what shells complete, below PREFIX (/usr/local) in DESTDIR
# make quick      lint and the tests that trace nothing, in their short form
# make test       lint, all tests, race detector: what this machine's kernel allows, with what was skipped at the end
# make arm64      build for arm64, and run in an emulator the tests that need no kernel
# make test-vm    the kernel tests on Debian's 5.10, 6.1, 6.12, 6.18 and 7.2 under QEMU, and counters of the CPU on 6.12
#                 of arm64
# make test-all   all of it, the long forms too
#
# GO is the Go command, FUZZTIME the time for each fuzz target, KERNELS the kernels of test-vm, JOBS how many guests
# run at a time, TESTFLAGS flags of test/run for test (-again), SLOWEST how many of its slowest tests it names, VMFLAGS
# more flags of test/vm for test-vm-short.

SHELL = /bin/bash -o pipefail
GO ?= go
FUZZTIME ?= 10s
KERNELS ?= all
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
# The version is given by hand, so that building does not depend on who owns the folder.
# The program begins at its own entry, which sees whether there is a standard output (cmd/startrace/stdout.go).
BUILD = CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false
LDFLAGS = -s -w -E startrace_entry -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# The packages in which goroutines meet.
CONCURRENT = $(addprefix ./internal/,session/... changes delivery ending loading stream/... bell target)

# What runs programs of arm64, and the packages in which the architecture can matter.
EMULATOR ?= qemu-aarch64-static
EMULATED = ./bpfgen/... ./starlark/... ./builtins $(addprefix ./internal/,attach binary ctypes elffile gofunc \
	kernel locate mapping procs stream symbols usdt wire)

.PHONY: all install workload lint format vet staticcheck quick short test race test-vm test-vm-arm64 test-vm-short \
	types test-all bench soak fuzz diff diff-vm mutate arm64 clean

all:
	$(BUILD) -ldflags '$(LDFLAGS)' -o bin/startrace ./cmd/startrace

install: all
	install -D -m 755 bin/startrace $(DESTDIR)$(PREFIX)/bin/startrace
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,man/man1 bash-completion/completions zsh/site-functions \
		fish/vendor_completions.d)
	bin/startrace doc --man > $(DESTDIR)$(PREFIX)/share/man/man1/startrace.1
	bin/startrace completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/startrace
	bin/startrace completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_startrace
	bin/startrace completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/startrace.fish

workload:
	$(BUILD) -o bin/workload ./test/workload
	$(BUILD) -o bin/confine ./test/confine

lint: format vet staticcheck

format:
	@unformatted=$$(gofmt -l .); \
		[ -z "$$unformatted" ] || { echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; }

vet:
	CGO_ENABLED=0 $(GO) vet ./...

staticcheck:
	CGO_ENABLED=0 $(GO) tool staticcheck ./...

# The packages of which most tests trace, and tests of others that trace or ask this machine's kernel for its types: the
# quick form leaves them out.
TRACING = test/accept test/both test/diff
TRACING_TESTS = Test(Command|Corpus|Docs|FramesOfDebugger|LongNames|Looking|Prompt|Sentences|Tool|Tutorial|Unwritten)

# What vet compiled, the other two take from the cache; one of these waits while the other computes.
quick: format vet
	@$(MAKE) -j 2 --output-sync=target --no-print-directory staticcheck short

short:
	CGO_ENABLED=0 $(GO) test -vet=off -short -skip '^($(TRACING_TESTS))' \
		$$($(GO) list ./... | grep -v -x $(patsubst %,-e '.*/%',$(TRACING))) | { grep -v 'no test files' || true; }

# The tests of test/accept run in two processes, since they wait more than they compute, and the others beside them.
test: lint all workload race
	CGO_ENABLED=0 $(GO) run ./test/run $(TESTFLAGS) -halves ./test/accept $(if $(SLOWEST),-slowest $(SLOWEST)) \
		-- -vet=off -timeout 18m ./...

# The race detector is a C library.
race:
	@if command -v $$($(GO) env CC) >/dev/null; then \
		echo "$(GO) test -race $(CONCURRENT)"; CGO_ENABLED=1 $(GO) test -race -vet=off $(CONCURRENT); \
	else echo "race detector skipped: there is no C compiler ($$($(GO) env CC))"; fi

# The types of the supported kernels, taken out of their packages: make test verifies all tools by them.
types:
	$(GO) run ./test/vm -kernel all -types bin/types

# One CPU with eight threads of Go's; then two CPUs and full preemption, which brings out what the first hides.
test-vm:
	$(GO) run ./test/vm -kernel $(KERNELS) -j $(JOBS) -timeout 30m -suite
	$(GO) run ./test/vm -kernel $(KERNELS) -smp 2 -append preempt=full -timeout 30m -suite
	$(GO) run ./test/vm -kernel $(KERNELS) -j $(JOBS) -append lockdown=confidentiality -run Lockdown -suite -- \
		./test/accept ./internal/attach ./internal/bpf
	$(GO) run ./test/vm -kernel $(KERNELS) -j $(JOBS) -append lockdown=integrity -run Lockdown -suite -- ./test/accept
	$(GO) run ./test/vm -kernel $(KERNELS) -j $(JOBS) -append lsm=landlock,yama,apparmor,bpf -run SecurityHooks \
		-suite -- ./test/accept
	$(GO) run ./test/vm -kernel $(KERNELS) -j $(JOBS) -secureboot -run LockdownSecureBoot -suite -- ./test/accept
	$(GO) run ./test/vm -kernel 6.12-arm64 -icount -run 'Cycles|Instructions|Uncounted' -suite -- ./test/accept

# All of it on arm64.
test-vm-arm64:
	$(GO) run ./test/vm -kernel 6.12-arm64 -timeout 40m -suite

# The short form, for every change. Retpolines cost the emulator a third of its time; the long form has them.
test-vm-short:
	$(GO) run ./test/vm -kernel $(KERNELS) -j $(JOBS) -append mitigations=off -timeout 22m -suite -short -again \
		$(VMFLAGS)

test-all: test arm64 test-vm test-vm-arm64 fuzz diff mutate bench

# Random functions in the kernel and in the interpreter; DIFF_SEED and DIFF_DUMP=1 look at one of them. With
# DIFF_KERNEL=5.10 they are compiled here and run in guests with that kernel.
diff:
	DIFF_PROGRAMS=100000 CGO_ENABLED=0 $(GO) test -count=1 -timeout 10h -run 'TestPrograms$$' -v ./test/diff
	DIFF_PROGRAMS=20000 CGO_ENABLED=0 $(GO) test -count=1 -timeout 10h -run 'TestUserHalves$$' -v ./test/diff

diff-vm:
	@set -e; for kernel in 5.10 7.2; do $(MAKE) diff DIFF_KERNEL=$$kernel; done

# Good scripts with random changes: messages or programs that the kernel takes; MUTATE_SEED and MUTATE_SHOW=1 look at
# one.
mutate:
	MUTATE_SCRIPTS=5000 CGO_ENABLED=0 $(GO) test -count=1 -timeout 60m -run 'TestMutated|TestCorpus' -v ./test/mutate

# The tests that need no kernel run as programs of arm64 in an emulator, in their short form. A program that forks can
# hang in it for good, seldom: such a test is ended and run again.
arm64:
	GOARCH=arm64 CGO_ENABLED=0 $(GO) build ./...
	GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	@if command -v $(EMULATOR) >/dev/null; then \
		$(GO) run ./test/run -again GOARCH=arm64 CGO_ENABLED=0 -vet=off -short -timeout 2m -exec $(EMULATOR) \
			$(EMULATED); \
	else echo "tests on arm64 skipped: there is no $(EMULATOR) (apt-get install qemu-user-static)"; fi

bench: all workload
	CGO_ENABLED=0 $(GO) test -run '^$$' -bench . -benchmem ./...

# Twenty times the short form of what a tracer has to stand for long, here and in a guest; then inputs that were changed
# at random: ELF files, scripts, and 5,000 of each parser.
soak: all workload
	SOAK=20 CGO_ENABLED=0 $(GO) test -count=1 -timeout 60m -run TestSoak -v ./test/accept
	$(GO) run ./test/vm -kernel 7.2 -smp 2 -timeout 60m -env SOAK=20 \
		-run 'TestSoak|TestCPUsComeAndGo|TestClockIsSet|TestModuleLoadedAgain' -suite -- ./test/accept
	STARTRACE_LONG=1 CGO_ENABLED=0 $(GO) test -count=1 -timeout 60m \
		-run 'TestMutated|TestToolsLoad|TestRandomSignatures|TestManySignatures|TestThreeWays|TestTypedCalls' \
		./internal/elffile ./cmd/startrace ./test/accept
	$(MAKE) mutate fuzz FUZZTIME=5000x

# go test takes one fuzz target at a time.
fuzz:
	@set -e; grep -r -o -w --include='*_test.go' 'func Fuzz[A-Za-z0-9_]*' . | while IFS=: read -r file target; do \
		name=$${target#func }; echo "fuzz $$name in $$(dirname $$file) for $(FUZZTIME)"; \
		CGO_ENABLED=0 $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x \
			$$(dirname $$file); \
	done

clean:
	rm -rf bin
	$(GO) clean -testcache
