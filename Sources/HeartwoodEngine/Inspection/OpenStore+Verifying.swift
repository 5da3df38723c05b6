extension OpenStore {
  /// Verifies all files of the store.
  ///
  /// - Parameter progress: Called with the bytes verified so far and the total.
  func verify(progress: ((Int64, Int64) -> Void)?) throws(EngineError) -> VerificationReport {
    try status.checkOpen()
    return try beginVerification(progress).run()
  }

  private func beginVerification(_ progress: ((Int64, Int64) -> Void)?) throws(EngineError) -> Verification {
    // While the files are opened, the lease keeps other processes from reclaiming them, and the reclaimer's lock this
    // process.
    guard status.isStopped || attachment == nil else {
      return try withLease { () throws(EngineError) in try openedVerification(progress) }
    }
    // A file that another process reclaims meanwhile is not a finding: try again.
    return try retryingIfChanged(isWhole: { !$0.hasFindings }) { () throws(EngineError) in
      try refreshIfStale()
      return try openedVerification(progress)
    }
  }

  /// A verification whose files are open, so that they can be reclaimed while it runs.
  private func openedVerification(_ progress: ((Int64, Int64) -> Void)?) throws(EngineError) -> Verification {
    try reclaimer.lock.withLock { () throws(EngineError) in
      let verification = Verification(self, progress: progress)
      try verification.openFiles()
      return verification
    }
  }
}
