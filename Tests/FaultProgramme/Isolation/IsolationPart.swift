import Foundation

/// Checks the reads of concurrent sessions against the promised isolation level.
struct IsolationPart: Part {
  let name = "isolation"
  let summary = "histories of threads beside one another, held against snapshot isolation"

  func goals(of size: Size) -> [Goal] {
    [
      Goal(figure: "planted anomalies", count: PlantedAnomaly.all.count),
      Goal(figure: "histories", count: size == .short ? 40 : 200),
      Goal(figure: "transactions", count: size == .short ? 40_000 : 200_000),
    ]
  }

  /// The first piece proves the checks themselves.
  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    if number == 0 {
      return Piece(name: "the proof of the checks") { figures in try prove(size, &figures) }
    }
    let seed = seed &* 1_000_003 &+ UInt64(number)
    let recording = Recording.all[number % Recording.all.count]
    return Piece(name: "\(recording), seed \(seed)") { figures in
      try check(try recording.record(seed: seed), &figures)
    }
  }

  private func prove(_ size: Size, _ figures: inout Figures) throws {
    let (planted, correct): (UInt64, UInt64) = size == .short ? (2, 100) : (20, 1000)
    try IsolationProof.findEveryPlantedAnomaly(seeds: 0..<planted, count: 100)
    figures["planted anomalies"] = PlantedAnomaly.all.count
    try IsolationProof.findNothingInCorrectHistories(seeds: 0..<correct, count: 100)
    figures["correct histories"] = Int(correct)
  }

  private func check(_ history: History, _ figures: inout Figures) throws {
    let report = IsolationReport(of: history)
    guard report.findings.isEmpty else {
      let place = HistoryFile.write(history)
      let lines = report.findings.prefix(10).map { "\n    \($0)" }
      throw Finding("\(report.findings.count) findings, the history is in \(place)" + lines.joined())
    }
    figures["histories"] += 1
    figures["transactions"] += history.transactions.count
    figures["commits"] += history.account.count
    figures["refused or rolled back"] += history.transactions.count(where: \.isAborted)
    figures["circles that the promise allows"] += report.allowed.count
  }
}

/// A kind of recording.
enum Recording: String, CaseIterable, CustomStringConvertible {
  case engineInMemory = "the engine"
  case pinnedContexts = "pinned contexts"
  case engineWithFailingSync = "the engine, a sync failing"
  case newestContexts = "contexts that follow the newest"
  case engineOnDisk = "the engine on a real disk"
  case pinnedContextsOnDisk = "pinned contexts on a real disk"

  /// The kinds in order; those on a real disk are less frequent.
  static let all: [Recording] =
    [
      .engineInMemory, .pinnedContexts, .engineWithFailingSync, .newestContexts, .engineInMemory,
      .pinnedContexts,
    ]
    + [.engineOnDisk, .newestContexts, .engineWithFailingSync, .pinnedContexts, .pinnedContextsOnDisk]

  var description: String { rawValue }

  func record(seed: UInt64) throws -> History {
    switch self {
    case .engineInMemory: try EngineRecorder(.init(seed: seed)).record()
    case .engineWithFailingSync:
      try EngineRecorder(.init(seed: seed, failingSync: 10 + Int(seed % 200))).record()
    case .engineOnDisk: try inFolder { try EngineRecorder(.init(seed: seed, folder: $0)).record() }
    case .pinnedContexts: try GraphRecorder(.init(seed: seed, promise: .snapshot)).record()
    case .newestContexts: try GraphRecorder(.init(seed: seed, promise: .newest)).record()
    case .pinnedContextsOnDisk:
      try inFolder { try GraphRecorder(.init(seed: seed, promise: .snapshot, folder: $0)).record() }
    }
  }

  private func inFolder(_ body: (String) throws -> History) throws -> History {
    let folder = FileManager.default.temporaryDirectory.appending(path: "isolation-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
  }
}

/// Writes a history with an anomaly to a file, because threads do not repeat it.
enum HistoryFile {
  /// Returns the path of the file.
  static func write(_ history: History) -> String {
    let words = Array(CommandLine.arguments.dropFirst())
    let state = (try? Arguments(words))?.state
    let folder =
      state.map { URL(filePath: $0).deletingLastPathComponent() } ?? FileManager.default.temporaryDirectory
    let file = folder.appending(path: "history-\(UUID().uuidString).json")
    do {
      try JSONEncoder().encode(history).write(to: file)
      return file.path
    } catch {
      return "no file: \(error)"
    }
  }
}
