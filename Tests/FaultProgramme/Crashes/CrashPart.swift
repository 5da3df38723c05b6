import HeartwoodFaults
import HeartwoodFiles

/// Crashes at every mutating call of the workloads, and checks the images that each can leave.
struct CrashPart: Part {
  let name = "crashes"
  let summary = "every image that a crash may leave, at every call of scripted workloads"

  func goals(of size: Size) -> [Goal] {
    [Goal(figure: "distinct images", count: size == .short ? 50_000 : 250_000)]
  }

  /// Every workload on the disk with the weakest guarantees, and the first ones on the others.
  func leastPieces(of size: Size) -> Int { CrashSubject.all.count }

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    let subject = CrashSubject.all[number % CrashSubject.all.count]
    let variant = number / CrashSubject.all.count
    let crashModel = [CrashModel.hostile, .hostile, .posix, .hostile, .ext4Ordered][variant % 5]
    let explorer = CrashExplorer(
      seed: seed &+ UInt64(variant), crashModel: crashModel, limits: Self.limits(size))
    return Piece(name: "\(subject.name(variant, seed)), \(crashModel)") { figures in
      try subject.explore(explorer, variant: variant, seed: seed).add(to: &figures)
      try subject.requireSameBytes(on: crashModel, variant: variant, seed: seed)
    }
  }

  /// More random images than by default: the store leaves few changes unsynced, so there are few others. The
  /// short size uses fewer images for each call, so that it covers all workloads.
  private static func limits(_ size: Size) -> CrashImageLimits {
    var limits = CrashImageLimits()
    limits.everySubsetUpTo = size == .short ? 4 : 6
    limits.tornWrites = 3
    limits.drawnImages = size == .short ? 8 : 128
    limits.imageCount = size == .short ? 60 : 2000
    return limits
  }
}

/// Crashes during the recovery from a crash, nested up to three deep.
struct RecoveryPart: Part {
  let name = "recoveries"
  let summary = "crashes while a store recovers from a crash, up to three deep"

  func goals(of size: Size) -> [Goal] {
    [Goal(figure: "crashes in recoveries", count: size == .short ? 4_000 : 20_000)]
  }

  func leastPieces(of size: Size) -> Int { size == .short ? 1 : CrashSubject.all.count }

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    let subject = CrashSubject.all[number % CrashSubject.all.count]
    let variant = number / CrashSubject.all.count
    var explorer = CrashExplorer(seed: seed &+ UInt64(variant), limits: .prefixesOnly)
    explorer.recoveryDepth = 1 + number % 3
    explorer.imageBudget = 1_500
    return Piece(name: "\(subject.name(variant, seed)), \(explorer.recoveryDepth) deep") {
      [explorer] figures in
      let report = try subject.explore(explorer, variant: variant, seed: seed)
      try report.check()
      figures["crashes in recoveries"] += report.recoveryCalls
      figures["distinct images"] += report.distinctImages
    }
  }
}

extension CrashReport {
  fileprivate func add(to figures: inout Figures) throws {
    try check()
    figures["calls"] += calls
    figures["distinct images"] += distinctImages
  }
}

/// A workload of the engine or of the graph.
enum CrashSubject: Sendable {
  case engine(Workload)
  /// The graph workload, the same in every variant.
  case graph
  /// Consumers, holds, purges and change sets: this many random steps after others, and other ones in each variant.
  case diary(steps: Int)

  static let all = Workload.all.map(CrashSubject.engine) + [.graph, .diary(steps: 8)]

  func name(_ variant: Int, _ seed: UInt64) -> String {
    switch self {
    case .engine(let workload): workload.variant(variant, seed: seed).description
    case .graph: "a graph with ordered relationships and delete rules"
    case .diary: "a graph with consumers, holds and change sets, \(Self.diarySeed(variant, seed))"
    }
  }

  /// Crashes the workload at the calls that `explorer` selects.
  func explore(_ explorer: CrashExplorer, variant: Int, seed: UInt64) throws -> CrashReport {
    switch self {
    case .engine(let workload): try Self.explore(explorer, workload.variant(variant, seed: seed))
    case .graph: try Self.exploreGraph(explorer)
    case .diary(let steps):
      try Self.exploreDiary(explorer, try Self.diary(steps, variant, seed))
    }
  }

  private static func diary(_ steps: Int, _ variant: Int, _ seed: UInt64) throws -> DiaryRehearsal {
    try DiaryRehearsal(seed: diarySeed(variant, seed), count: steps, prepared: 20)
  }

  private static func diarySeed(_ variant: Int, _ seed: UInt64) -> UInt64 { seed &* 1_000 &+ UInt64(variant) }

  /// Runs the workload twice and checks that both runs leave the same bytes.
  func requireSameBytes(on crashModel: CrashModel, variant: Int, seed: UInt64) throws {
    var rehearsal: DiaryRehearsal?
    if case .diary(let steps) = self { rehearsal = try Self.diary(steps, variant, seed) }
    let digests = try (0..<2).map { _ in
      let disk = SimulatedFileSystem(seed: seed, crashModel: crashModel)
      switch self {
      case .engine(let workload):
        let workload = workload.variant(variant, seed: seed)
        let reference = ReferenceModel()
        try workload.prepare(disk, reference)
        let failing = FaultInjectingFileSystem(base: disk, plan: workload.faults)
        try Session(failing, reference: reference).runThroughErrors(workload.steps)
      case .graph:
        let disk = FaultInjectingFileSystem(base: disk)
        try GraphSession.live(on: disk, GraphWitness(try GraphSession.states()))
      case .diary:
        try rehearsal?.prepare(disk)
        try rehearsal?.live(on: disk, StateWitness(rehearsal?.states ?? []))
      }
      return disk.digest
    }
    try require(digests[0] == digests[1], "two runs of the same workload leave different bytes")
  }

  private static func explore(_ explorer: CrashExplorer, _ workload: Workload) throws -> CrashReport {
    var explorer = explorer
    explorer.faults = workload.faults
    let reference = ReferenceModel()
    // The explorer's closures hold the reference, and it holds them.
    defer { reference.whenNarrowed {} }
    let recovers = explorer.recoveryDepth > 0
    // Each change of the promise is an acknowledgement, so that equal images are verified again under the
    // new promise.
    return try explorer.run(acknowledging: Void.self) { fileSystem in
      try workload.prepare(fileSystem, reference)
    } workload: { fileSystem, acknowledge in
      reference.whenNarrowed { acknowledge(()) }
      let session = Session(fileSystem, reference: reference)
      if workload.faults.isEmpty {
        try session.run(workload.steps)
      } else {
        try session.runThroughErrors(workload.steps)
      }
    } recover: { fileSystem in
      if recovers { try Session.recover(fileSystem) }
    } verify: { fileSystem, _ in
      try StoreChecker(promise: reference.now).check(fileSystem)
    }
  }

  private static func exploreGraph(_ explorer: CrashExplorer) throws -> CrashReport {
    let reference = GraphWitness(try GraphSession.states())
    // The explorer's closures hold the reference, and it holds them.
    defer { reference.whenNarrowed {} }
    let recovers = explorer.recoveryDepth > 0
    return try explorer.run(acknowledging: Void.self) { fileSystem, acknowledge in
      reference.whenNarrowed { acknowledge(()) }
      try GraphSession.live(on: fileSystem, reference)
    } recover: { fileSystem in
      if recovers { try Session.recover(fileSystem) }
    } verify: { fileSystem, _ in
      try reference.now.check(fileSystem)
    }
  }

  private static func exploreDiary(
    _ explorer: CrashExplorer, _ rehearsal: DiaryRehearsal
  ) throws -> CrashReport {
    let reference = StateWitness(rehearsal.states)
    // The explorer's closures hold the reference, and it holds them.
    defer { reference.whenNarrowed {} }
    let recovers = explorer.recoveryDepth > 0
    return try explorer.run(acknowledging: Void.self) { fileSystem in
      try rehearsal.prepare(fileSystem)
    } workload: { fileSystem, acknowledge in
      reference.whenNarrowed { acknowledge(()) }
      try rehearsal.live(on: fileSystem, reference)
    } recover: { fileSystem in
      if recovers { try Session.recover(fileSystem) }
    } verify: { fileSystem, _ in
      try DiaryChecker(candidates: reference.candidates, sets: rehearsal.sets).check(fileSystem)
    }
  }
}
