import HeartwoodFiles

/// Reclamation that somebody has asked for. What lives is there twice until the files that it was moved out of are unlinked:
/// where the disk has no room for that, space is given back in rounds, each of which makes room for the next.
extension OpenStore {
  /// Gives all space back that is worth it.
  func reclaim() throws(EngineError) -> ReclaimedSpace {
    try checkMayWrite()
    try status.checkWritable()
    return try withLease { () throws(EngineError) in
      var rounds = ReclaimRounds()
      var sum: ReclaimedSpace?
      while true {
        let round = try reclaimMakingRoom { () throws(EngineError) in try victims(of: &rounds) }
        let all = sum?.joined(by: round) ?? round
        guard rounds.continues(after: round) else {
          try rounds.checkHasHelped(path)
          return all
        }
        sum = all
      }
    }
  }

  /// Reclaims once more with the store's reserve where there is no room to begin.
  private func reclaimMakingRoom(
    choosing choose: () throws(EngineError) -> Reclaimer.Victims
  ) throws(EngineError) -> ReclaimedSpace {
    do throws(EngineError) {
      return try reclaim(choosing: choose)
    } catch {
      guard error.code == .noSpace, spendReserve() else { throw error }
      return try reclaim(choosing: choose)
    }
  }

  /// All that is worth it; where the disk has no room for that, as much as fits.
  private func victims(of rounds: inout ReclaimRounds) throws(EngineError) -> Reclaimer.Victims {
    let occupancy = try Occupancy(self)
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
    if reserve > 0, !victims.isEmpty { _ = spendReserve() }
    return victims
  }
}

/// How far reclamation in rounds has come.
private struct ReclaimRounds {
  /// Whether there is more than this round chooses.
  var isPart = false
  /// Whether the store's reserve counts as room, once nothing fits without it.
  private(set) var usesReserve = false
  /// What all that is left would need, where the disk has less.
  var cost = 0
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

  /// Throws where nothing could be given back, as nothing of what is worth it fits.
  func checkHasHelped(_ path: String) throws(EngineError) {
    guard !hasHelped, cost > 0 else { return }
    throw EngineError(
      .noSpace,
      "there is too little room on the disk to give any back: what lives is copied before its old place is free, which takes "
        + "up to \(cost) bytes; free some and try again", file: path)
  }
}
