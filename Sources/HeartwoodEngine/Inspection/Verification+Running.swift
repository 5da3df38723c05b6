extension Verification {
  /// Verifies all files of the store.
  ///
  /// - Parameter progress: Called with the bytes verified so far and the total.
  static func run(
    _ store: OpenStore, progress: ((Int64, Int64) -> Void)?
  ) throws(EngineError) -> VerificationReport {
    try store.status.checkOpen()
    return try begin(store, progress).run()
  }

  private static func begin(
    _ store: OpenStore, _ progress: ((Int64, Int64) -> Void)?
  ) throws(EngineError) -> Verification {
    // While the files are opened, the lease keeps other processes from reclaiming them, and the reclaim lock this
    // process.
    guard store.status.isStopped || store.attachment == nil else {
      return try Coordinator(store).withLease { () throws(EngineError) in try opened(store, progress) }
    }
    // A file that another process reclaims meanwhile is not a finding: try again.
    let refresh = Refresh(store)
    return try refresh.retryingIfChanged(isWhole: { !$0.hasFindings }) { () throws(EngineError) in
      try refresh.ifStale()
      return try opened(store, progress)
    }
  }

  /// A verification whose files are open, so that they can be reclaimed while it runs.
  private static func opened(
    _ store: OpenStore, _ progress: ((Int64, Int64) -> Void)?
  ) throws(EngineError) -> Verification {
    try store.reclamation.withLock { (_) throws(EngineError) in
      let verification = Verification(store, progress: progress)
      try verification.openFiles()
      return verification
    }
  }
}
