import HeartwoodFiles

/// Reclamation on demand. Live data is stored twice until its old files are unlinked. If the disk has no room for that, the
/// store reclaims in rounds, each of which frees space for the next.
extension Compaction {
  /// Reclaims all space that is worth the work.
  ///
  /// - Throws: `.noSpace` if the disk has too little room to move even one segment.
  func reclaim() throws(EngineError) -> ReclaimedSpace {
    try store.checkMayWrite()
    try store.status.checkWritable()
    return try Coordinator(store).withLease { () throws(EngineError) in
      var rounds = ReclaimRounds()
      var sum: ReclaimedSpace?
      while true {
        let round = try reclaimMakingRoom { (checkpoints, reclamation) throws(EngineError) in
          try victims(of: &rounds, try Occupancy(store, checkpoints, reclamation))
        }
        let all = sum?.joined(by: round) ?? round
        guard rounds.continues(after: round) else {
          try rounds.checkHasHelped(store.path)
          return all
        }
        sum = all
      }
    }
  }

  /// Runs one round. If it runs out of space, deletes the store's reserve and tries once more.
  private func reclaimMakingRoom(
    choosing choose: (CheckpointState, ReclaimState) throws(EngineError) -> VictimSegments
  ) throws(EngineError) -> ReclaimedSpace {
    do throws(EngineError) {
      return try reclaim(choosing: choose)
    } catch {
      guard error.code == .noSpace, store.reserve.spend() else { throw error }
      return try reclaim(choosing: choose)
    }
  }

  /// All segments worth emptying or, if the disk has too little room for that, as many as fit.
  private func victims(
    of rounds: inout ReclaimRounds, _ occupancy: Occupancy
  ) throws(EngineError) -> VictimSegments {
    let folder = store.folder
    let all = occupancy.victims(Occupancy.Aim(compactsLeaves: true))
    let cost = occupancy.cost(of: all)
    guard let available = try? folder.directory.availableBytes(), Int(clamping: available) / 2 < cost else {
      rounds.isPart = false
      return all
    }
    (rounds.isPart, rounds.cost) = (true, cost > available ? cost : 0)
    let reserve = rounds.usesReserve ? try folder.size(ofFile: StoreFolder.reserveName) ?? 0 : 0
    let victims = occupancy.victims(
      Occupancy.Aim(limit: (Int(clamping: available) + reserve) / 4, isStrict: true))
    if reserve > 0, !victims.isEmpty { _ = store.reserve.spend() }
    return victims
  }
}

/// State of a reclamation in rounds.
private struct ReclaimRounds {
  /// Whether segments remain that this round does not choose.
  var isPart = false
  /// Whether the store's reserve counts as free space. Set after a round that freed nothing without it.
  private(set) var usesReserve = false
  /// Bytes needed to empty all remaining segments at once; 0 if the disk has as much.
  var cost = 0
  /// Whether a round freed space, or chose all segments.
  private var hasHelped = false

  /// Whether there is another round.
  mutating func continues(after round: ReclaimedSpace) -> Bool {
    guard isPart else {
      hasHelped = true
      return false
    }
    let helps = round.bytesAfter < round.bytesBefore
    if helps { hasHelped = true }
    guard !helps else { return true }
    guard !usesReserve else { return false }
    usesReserve = true
    return true
  }

  /// Throws `.noSpace` if no round freed anything for lack of room.
  func checkHasHelped(_ path: String) throws(EngineError) {
    guard !hasHelped, cost > 0 else { return }
    throw EngineError(
      .noSpace,
      "the disk has too little room to reclaim space: live data is copied before its old files are deleted, which takes "
        + "up to \(cost) bytes; free some space and try again", file: path)
  }
}
