import TestSupport
#if canImport(Glibc)
  import Glibc
  import HeartwoodFiles
  import Testing

  @testable import HeartwoodEngine

  /// A child that does not execute another program inherits its parent's descriptors, locks and memory.
  @Suite struct `A forked process` {
    /// Runs `body` in a child process, which then exits. Returns its status.
    private func inChild(_ body: () -> Int32) -> Int32 {
      let child = fork()
      if child == 0 { _exit(body()) }
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0 {}
      // The number of the signal that ended the child.
      return status & 0x7F == 0 ? status >> 8 : -(status & 0x7F)
    }

    private func code(_ error: any Error) -> Int32 { (error as? EngineError)?.code == .closed ? 1 : 2 }

    @Test func `a child process cannot use a store that its parent opened, and releases none of its locks`()
      throws
    {
      try TemporaryFolder.with { path in
        let engine = try Engine(at: path)
        try engine.write { try $0.put("mine", [1]) }
        let read = inChild {
          do { _ = try engine.get("mine") } catch { return code(error) }; return 0
        }
        let written = inChild {
          do { try engine.write { try $0.put("theirs", [2]) } } catch { return code(error) }; return 0
        }
        let closed = inChild {
          do { try engine.close() } catch { return code(error) }; return 0
        }
        #expect([read, written, closed] == [1, 1, 0])
        // The parent still holds its locks.
        var options = EngineOptions(sharing: .exclusive, busyTimeout: 0)
        options.sharesInProcess = false
        #expect(throws: EngineError.self) { try Engine(at: path, options: options) }
        try engine.write { try $0.put("mine", [3]) }
        try engine.close()
        let again = try Engine(at: path)
        #expect(try again.get("mine") == [3])
        #expect(try again.get("theirs") == nil)
        #expect(try again.verify().findings == [])
        try again.close()
      }
    }

    @Test func `a child process opens a store like any other process`() throws {
      try TemporaryFolder.with { path in
        let engine = try Engine(at: path)
        try engine.write { try $0.put("mine", [1]) }
        let status = inChild {
          do {
            let own = try Engine(at: path, options: EngineOptions(worker: InlineWorker()))
            try own.write { try $0.put("theirs", [2]) }
            guard try own.get("mine") == [1] else { return 3 }
            try own.close()
            return 0
          } catch { return code(error) }
        }
        #expect(status == 0)
        #expect(try engine.get("theirs") == [2])
        try engine.write { try $0.put("mine", [4]) }
        try engine.close()
      }
    }
  }
#endif
