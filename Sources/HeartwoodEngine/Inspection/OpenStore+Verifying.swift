extension OpenStore {
  func verify(progress: ((Int64, Int64) -> Void)?) throws(EngineError) -> VerificationReport {
    try status.checkOpen()
    return try beginVerification(progress).run()
  }

  private func beginVerification(_ progress: ((Int64, Int64) -> Void)?) throws(EngineError) -> Verification {
    // The lease keeps other processes, and the reclaimer's lock this one, from reclaiming files meanwhile.
    guard status.isStopped || attachment == nil else {
      return try withLease { () throws(EngineError) in try openedVerification(progress) }
    }
    // Files that other processes have reclaimed meanwhile are not a finding.
    return try retryingIfChanged(isWhole: { !$0.hasFindings }) { () throws(EngineError) in
      try refreshIfStale()
      return try openedVerification(progress)
    }
  }

  private func openedVerification(_ progress: ((Int64, Int64) -> Void)?) throws(EngineError) -> Verification {
    try reclaimer.lock.withLock { () throws(EngineError) in
      let verification = Verification(self, progress: progress)
      try verification.openFiles()
      return verification
    }
  }
}
