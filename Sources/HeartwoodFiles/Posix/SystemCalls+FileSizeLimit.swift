import CLibrary

extension SystemCall {
  /// Makes a call that may exceed the process's file size limit (`RLIMIT_FSIZE`), so that it fails with
  /// `EFBIG`.
  ///
  /// By default the system ends the process with SIGXFSZ instead. It sends the signal to the thread that made
  /// the call, so blocking it in this thread is enough, and the process's signal handling is unchanged. There
  /// is no cost if the process has no limit at its first write.
  static func withoutSignalOfFileSize<Result>(
    _ call: () throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    #if os(Linux)
      guard hasLimitOfFileSize else { return try call() }
      var blocked = sigset_t()
      var before = sigset_t()
      sigemptyset(&blocked)
      sigaddset(&blocked, SIGXFSZ)
      pthread_sigmask(SIG_BLOCK, &blocked, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      do {
        return try call()
      } catch {
        // A caller that blocks the signal itself receives it when it unblocks it.
        if error.number == EFBIG, sigismember(&before, SIGXFSZ) == 0 { discard(&blocked) }
        throw error
      }
    #else
      return try call()
    #endif
  }

  #if os(Linux)
    /// Consumes a pending signal of the set; returns at once if there is none, for example if the process
    /// ignores it.
    private static func discard(_ signals: inout sigset_t) {
      var noTime = timespec()
      while sigtimedwait(&signals, nil, &noTime) < 0, errno == EINTR {}
    }

    private static let hasLimitOfFileSize: Bool = {
      var limit = rlimit()
      #if canImport(Musl)
        let result = getrlimit(RLIMIT_FSIZE, &limit)
      #else
        let result = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      #endif
      // The value that means no limit differs between systems, but is above 2^62 on all of them.
      return result != 0 || limit.rlim_cur < 1 << 62
    }()
  #endif
}
