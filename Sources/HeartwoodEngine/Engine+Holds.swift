import HeartwoodFiles

/// Generations that are kept by name.
extension Engine {
  /// Keeps a generation readable by `snapshot(at:)`, for every process, until the hold is released or over. It survives crashes and is not part of
  /// backups.
  ///
  /// The files that the generation needs stay, also where the newest one needs little of them: `bytesOfHolds()` says how much that is.
  ///
  /// - Parameters:
  ///   - name: 1 to 255 bytes in UTF-8, unique in the store.
  ///   - generation: Nil for the newest.
  ///   - seconds: How long it is held, at least 0; nil until it is released.
  /// - Throws: `.exists` if there is a hold of this name; `.generationUnavailable` if the store does not have the generation; `.invalidKey` for the
  ///   name; `.locked` if another process writes for all of `EngineOptions.busyTimeout`; `.nestedWrite` inside a write of this thread;
  ///   `.readOnly`, `.stopped`, and errors of the file system.
  /// - Complexity: As a checkpoint; for a past generation O(n) in the log after its checkpoint.
  @discardableResult
  public func hold(
    _ name: String, generation: Generation? = nil, forSeconds seconds: Double? = nil
  ) throws(EngineError) -> GenerationHold {
    try LateCalls.after { () throws(EngineError) in
      try HeldGenerations(handle.open()).hold(name, generation?.rawValue, seconds: seconds)
    }
  }

  /// Ends a hold. The next reclamation may take the generation's files.
  ///
  /// - Returns: False if there is none of this name.
  /// - Throws: As `hold(_:generation:forSeconds:)`.
  @discardableResult
  public func releaseHold(_ name: String) throws(EngineError) -> Bool {
    try HeldGenerations(handle.open()).release(name)
  }

  /// The holds, in the order of their names, also those that are over and whose generation is still there.
  ///
  /// - Throws: `.damaged`, and errors of the file system.
  public func holds() throws(EngineError) -> [GenerationHold] { try HeldGenerations(handle.open()).list() }

  /// How many bytes of files stay for each hold, by its name: what reclamation could free without it, if there were no other.
  ///
  /// - Throws: As `holds()`, and as reading.
  /// - Complexity: O(n) in the number of keys.
  public func bytesOfHolds() throws(EngineError) -> [String: Int64] {
    try HeldGenerations(handle.open()).bytes()
  }
}
