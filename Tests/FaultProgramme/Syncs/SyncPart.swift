import HeartwoodFaults
import HeartwoodFiles

/// Syncs that fail or lie, followed by crashes.
struct SyncPart: Part {
  let name = "syncs"
  let summary = "syncs that fail and keep the bytes, fail and revert them, or lie; a crash after each"

  func goals(of size: Size) -> [Goal] {
    [Goal(figure: "misbehaving syncs", count: size == .short ? 700 : 1_400)]
  }

  /// Each subject once with a single bad sync and once with bad syncs for ever. The short size alternates
  /// between them.
  func leastPieces(of size: Size) -> Int { (size == .short ? 1 : 2) * SyncSubject.all.count }

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    let (round, index) = number.quotientAndRemainder(dividingBy: SyncSubject.all.count)
    guard size == .long || round < 2 else { return nil }
    let subject = SyncSubject.all[index]
    // Another seed draws other images.
    let limits = Self.limits(size)
    return Piece(name: "\(subject), round \(round)") { figures in
      try subject.run(round: round, seed: seed &+ UInt64(round / 2), limits, &figures)
    }
  }

  private static func limits(_ size: Size) -> CrashImageLimits {
    var limits = size == .short ? CrashImageLimits.prefixesOnly : CrashImageLimits()
    switch size {
    case .short: (limits.drawnImages, limits.imageCount) = (4, 8)
    case .standard: (limits.drawnImages, limits.imageCount) = (12, 30)
    case .long: (limits.drawnImages, limits.imageCount) = (24, 60)
    }
    return limits
  }
}

/// A workload, or the graph workload, and the misbehavior of its syncs.
struct SyncSubject: Sendable, CustomStringConvertible {
  /// Nil for the graph.
  let workload: Workload?
  let behavior: SyncBehavior

  static let all = [SyncBehavior.failsKeepingData, .failsRevertingData, .lies].flatMap { behavior in
    (Workload.ofOneProcess.map(Optional.some) + [nil]).map { SyncSubject(workload: $0, behavior: behavior) }
  }

  var description: String { "\(workload?.description ?? "a graph"), \(behavior)" }

  func run(round: Int, seed: UInt64, _ limits: CrashImageLimits, _ figures: inout Figures) throws {
    var seen: Set<CrashesBehindSync.ImageIdentity> = []
    let prepared = try workload.map { try PreparedWorkload($0, seed: seed, .hostile) }
    let states = prepared == nil ? try GraphSession.states() : []
    let calls = try prepared?.calls() ?? GraphErrorScenario.calls()
    let syncs = calls.filter { $0.calls == .sync || $0.calls == .syncDirectory }
    for (number, call) in syncs.enumerated() {
      let duration = (number + round).isMultiple(of: 2) ? FaultPlan.Duration.once : .forever
      let sync = BadSync(behavior: behavior, call: call, duration: duration)
      if let prepared {
        let errors = try SyncScenario(prepared: prepared, sync: sync, limits: limits).run(&seen)
        figures["errors"] += errors.count
      } else if sync.fails {
        let outcomes = try GraphErrorScenario(sync.plan, states, limits: limits).run()
        figures["errors"] += outcomes.refused
        figures["distinct images"] += outcomes.images
      } else {
        try GraphSyncScenario(sync: sync, limits: limits, states: states).run(&seen)
      }
      figures["misbehaving syncs"] += 1
    }
    figures["distinct images"] += seen.count
  }
}
