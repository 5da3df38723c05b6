import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// Fails every call once.
struct ErrorPart: Part {
  let name = "errors"
  let summary = "an error at every call, once and for ever; short transfers; nothing left open"

  func goals(of size: Size) -> [Goal] {
    [Goal(figure: "failing calls", count: size == .short ? 3_000 : 15_000)]
  }

  /// The short size fails every call in one way, the standard size in all usual ways.
  func leastPieces(of size: Size) -> Int {
    let rounds = size == .short ? 1 : WayToFail.usual.count
    return rounds * ErrorSubject.all.count
  }

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    let round = number / ErrorSubject.all.count
    let subject = ErrorSubject.all[number % ErrorSubject.all.count]
    let usual = WayToFail.usual
    guard round < usual.count + WayToFail.unusual.count else { return nil }
    // Each call fails in another way, so that one round covers all ways.
    let ways = round < usual.count ? usual : WayToFail.unusual
    return Piece(name: "\(subject.description), round \(round)") { figures in
      try subject.run(in: { ways[($0 + round) % ways.count] }, isFirst: round == 0, &figures)
    }
  }
}

/// An activity during which calls fail.
enum ErrorSubject: Sendable, CustomStringConvertible {
  case workload(Workload)
  case opening(Workload)
  case shortTransfers(Workload)
  case realDisk(Workload)
  /// A share of all calls of the graph workload.
  case graph(Int)
  case graphOpening

  private static let graphParts = 6

  static let all: [ErrorSubject] =
    Workload.ofOneProcess.flatMap { [.workload($0), .opening($0), .shortTransfers($0)] }
    + [Workload.creation, .checkpoints, .deferredRoll, .reopening].map { .realDisk($0) }
    + (0..<graphParts).map { .graph($0) } + [.graphOpening]

  var description: String {
    switch self {
    case .workload(let workload): workload.description
    case .opening(let workload): "opening after \(workload)"
    case .shortTransfers(let workload): "short transfers during \(workload)"
    case .realDisk(let workload): "\(workload), on a real disk"
    case .graph(let part): "a graph, calls \(part + 1) of \(Self.graphParts)"
    case .graphOpening: "opening of a graph"
    }
  }

  /// Fails each call in the way that its number selects.
  func run(in way: (Int) -> WayToFail, isFirst: Bool, _ figures: inout Figures) throws {
    switch self {
    case .workload(let workload): try run(workload, way, &figures)
    case .opening(let workload): try open(workload, way, &figures)
    case .shortTransfers(let workload): if isFirst { try transfer(workload, &figures) }
    case .realDisk(let workload): try runOnRealDisk(workload, way, &figures)
    case .graph(let part): try runGraph(part, way, &figures)
    case .graphOpening: try openGraph(way, &figures)
    }
  }

  private func run(_ workload: Workload, _ way: (Int) -> WayToFail, _ figures: inout Figures) throws {
    let prepared = try PreparedWorkload(workload)
    for (number, call) in try prepared.calls().enumerated() {
      let outcome = try ErrorScenario(prepared: prepared, plan: call.plan(way(number))).run()
      figures["runs"] += 1
      figures["failing calls"] += min(outcome.firings, 1)
      figures["errors"] += outcome.errors.count
    }
  }

  private func open(_ workload: Workload, _ way: (Int) -> WayToFail, _ figures: inout Figures) throws {
    let course = try OpeningErrorScenario(workload)
    for access in [EngineOptions.Access.readWrite, .readOnly] {
      for (number, call) in try course.calls(access).enumerated() {
        let isMet = try course.run(call.plan(way(number)), access)
        figures["runs"] += 1
        figures["failing calls"] += isMet ? 1 : 0
      }
    }
  }

  private func transfer(_ workload: Workload, _ figures: inout Figures) throws {
    let short = ShortTransfers(prepared: try PreparedWorkload(workload))
    for transfer in try short.transfers() {
      try short.run(transfer)
      figures["short transfers"] += 1
    }
    try short.runAll(largestRead: 1000, largestWrite: 700)
    try short.runAll(largestRead: 13, largestWrite: 17)
  }

  /// Fails only a few calls, because each run needs a folder of its own.
  private func runOnRealDisk(
    _ workload: Workload, _ way: (Int) -> WayToFail, _ figures: inout Figures
  ) throws {
    let disk = RealDisk(workload: workload)
    for (number, call) in try disk.calls().enumerated() {
      try disk.run(call.plan(way(number)))
      figures["runs on a real disk"] += 1
    }
  }

  private func runGraph(_ part: Int, _ way: (Int) -> WayToFail, _ figures: inout Figures) throws {
    let states = try GraphSession.states()
    for (number, call) in try GraphErrorScenario.calls().enumerated() where number % Self.graphParts == part {
      let outcomes = try GraphErrorScenario(call.plan(way(number)), states).run()
      figures["runs"] += 1
      figures["failing calls"] += min(outcomes.firings, 1)
      figures["errors"] += outcomes.refused
    }
  }

  private func openGraph(_ way: (Int) -> WayToFail, _ figures: inout Figures) throws {
    let opening = try GraphOpening()
    for (number, call) in try opening.calls().enumerated() {
      let isRefused = try opening.run(call.plan(way(number)))
      figures["runs"] += 1
      figures["failing calls"] += 1
      figures["errors"] += isRefused ? 1 : 0
    }
  }
}
