import Foundation

/// Applies silent damage to every place of small stores.
struct DamagePart: Part {
  let name = "damage"
  let summary = "every byte changed, every length cut, sectors zeroed, swapped and stale, files mixed"

  /// The number of damages of one piece.
  private static let share = 3_000

  func goals(of size: Size) -> [Goal] {
    [Goal(figure: "damaged stores", count: size == .short ? 15_000 : 500_000)]
  }

  func leastPieces(of size: Size) -> Int { (try? Self.plan(size).count) ?? 1 }

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    let plan: [(sample: DamageSample, first: Int)]
    do {
      plan = try Self.plan(size)
    } catch {
      return Piece(name: "stores to be damaged") { _ in throw error }
    }
    guard number < plan.count else { return nil }
    let (sample, first) = plan[number]
    return Piece(name: "\(sample.name), damages from \(first)") { figures in
      let before = Self.peakMebibytes
      let damages = sample.damages(size).dropFirst(first).prefix(Self.share)
      for (index, damage) in damages.enumerated() {
        guard let sight = try sample.look(at: damage, number: first + index) else { continue }
        figures["damaged stores"] += 1
        figures[sight.outcome.rawValue] += 1
        if sight.isFoundByVerify { figures["found by verifying only"] += 1 }
      }
      let growth = Self.peakMebibytes - before
      try require(growth < 512, "reading damaged stores has taken \(growth) MiB of memory")
    }
  }
}

extension DamagePart {
  /// For each piece, the store and the first of its damages.
  private static func plan(_ size: Size) throws -> [(sample: DamageSample, first: Int)] {
    switch size {
    case .short: try short.get()
    case .standard: try standard.get()
    case .long: try long.get()
    }
  }

  // Computed once, because every piece needs them.
  private static let short = Result { try makePlan(.short) }
  private static let standard = Result { try makePlan(.standard) }
  private static let long = Result { try makePlan(.long) }

  private static func makePlan(_ size: Size) throws -> [(sample: DamageSample, first: Int)] {
    try DamageSample.all(of: size).flatMap { sample in
      stride(from: 0, to: sample.damages(size).count, by: share).map { (sample, $0) }
    }
  }

  /// The peak memory use of this process in MiB.
  private static var peakMebibytes: Int {
    var usage = rusage()
    #if canImport(Darwin)
      getrusage(RUSAGE_SELF, &usage)
      return usage.ru_maxrss >> 20
    #else
      getrusage(numericCast(RUSAGE_SELF.rawValue), &usage)
      return usage.ru_maxrss >> 10
    #endif
  }
}

extension DamageSample {
  /// All damages of the store.
  ///
  /// The long size flips every bit. The short size skips most zeros and has fewer truncations and fewer
  /// damages of stores that are not closed.
  func damages(_ size: Size) -> [Damage] {
    let whole = Damage.files(of: store) + Damage.sectors(of: store)
    switch size {
    case .short:
      let flips = Damage.flips(of: store, at: store.busyOffsets, bit: 0)
      let cuts = Damage.cuts(of: store, at: store.busyOffsets)
      return whole + flips.every(isClosed ? 1 : 5) + cuts.every(5)
    case .standard:
      return whole + Damage.cuts(of: store, at: store.offsets)
        + Damage.flips(of: store, at: store.offsets, bit: 0)
    case .long:
      return whole + Damage.cuts(of: store, at: store.offsets)
        + (0..<8).flatMap { Damage.flips(of: store, at: store.offsets, bit: $0) }
    }
  }
}

extension Array {
  fileprivate func every(_ step: Int) -> [Element] {
    stride(from: 0, to: count, by: step).map { self[$0] }
  }
}
