#if os(Linux)
  import CLibrary

  extension SystemCall {
    /// - Returns: a descriptor that becomes readable when something in the directory changes.
    static func watchDirectory(_ directory: Int32) throws(SystemError) -> Int32 {
      let descriptor = try retried { inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK)) }
      let kinds = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
      do {
        // By descriptor: another directory may be at the path by now.
        _ = try retried { inotify_add_watch(descriptor, "/proc/self/fd/\(directory)", UInt32(kinds)) }
        return descriptor
      } catch {
        try? close(descriptor)
        throw error
      }
    }

    static func makePipe() throws(SystemError) -> (read: Int32, write: Int32) {
      var ends: [Int32] = [-1, -1]
      _ = try retried { pipe(&ends) }
      for end in ends {
        // Neither call fails on a new pipe.
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
      return (ends[0], ends[1])
    }

    /// Waits until one of the descriptors is readable, or the time is over.
    ///
    /// - Parameter seconds: The longest wait; nil for no limit.
    /// - Returns: for each descriptor whether it is readable.
    static func waitUntilReadable(_ descriptors: [Int32], seconds: Double?) throws(SystemError) -> [Bool] {
      var waited = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let milliseconds = seconds.map { Int32(min(max(($0 * 1000).rounded(.up), 0), 1e9)) } ?? -1
      _ = try retried { poll(&waited, nfds_t(waited.count), milliseconds) }
      return waited.map { $0.revents != 0 }
    }

    /// Reads and discards everything that is available now.
    static func empty(_ descriptor: Int32) {
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
        while let count = try? retried({ readNext(descriptor, buffer) }), count > 0 {}
      }
    }

    /// Makes the other end of a pipe readable.
    static func ring(_ descriptor: Int32) {
      var byte: UInt8 = 1
      _ = try? retried { writeNext(descriptor, &byte) }
    }
  }

  // Outside the extension, where `read` and `write` are the system's functions.
  private func readNext(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
  }

  private func writeNext(_ descriptor: Int32, _ byte: UnsafePointer<UInt8>) -> Int {
    write(descriptor, byte, 1)
  }
#endif
