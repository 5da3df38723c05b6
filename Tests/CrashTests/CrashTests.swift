import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

@Suite(.serialized) struct CrashTests {
  @Test(arguments: Workload.all)
  func `a crash at any moment loses no acknowledged commit`(workload: Workload) throws {
    try explore(workload, CrashExplorer(seed: 1, limits: Self.limits))
  }

  @Test(arguments: Workload.all)
  func `a crash in a recovery loses no acknowledged commit`(workload: Workload) throws {
    var explorer = CrashExplorer(seed: 1, limits: Self.limits)
    explorer.recoveryDepth = 1
    explorer.recoveryLimits = Self.limits
    explorer.imageBudget = 40
    try explore(workload, explorer)
  }

  /// Few images for each call. The fault programme checks all of them.
  private static var limits: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.imageCount = 2
    return limits
  }

  private func explore(_ workload: Workload, _ explorer: CrashExplorer) throws {
    let report = try CrashSubject.engine(workload).explore(explorer, variant: 0, seed: 1)
    print("\(workload): \(report)")
    try report.check()
    #expect(report.images > report.calls)
  }

  @Test func `a transaction that fills several frames leaves no data when a crash precedes the last frame`()
    throws
  {
    let disk = SimulatedFileSystem()
    let session = Session(disk)
    try session.run([.commit(.full, [.put("before", bytes: 10)])])
    session.kill()
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: disk)
    let large = [UInt8](repeating: 5, count: (16 << 20) + 1)
    var images = 0
    try engine.write { transaction in
      try transaction.put("large", large)
      try transaction.put("small", [1])
      for image in disk.crashImages(.prefixesOnly) {
        try goOn(in: image, from: session.reference.newest)
        images += 1
      }
    }
    #expect(images > 1)
    var rows = session.reference.newest
    rows["large"] = large
    rows["small"] = [1]
    for image in disk.crashImages(.prefixesOnly) {
      let isRight = try rowsFound(in: image) == rows
      #expect(isRight, "\(image)")
    }
    try engine.close()
  }

  @Test(arguments: Workload.all)
  func `no slot of the anchor is written before the other is safe`(workload: Workload) throws {
    let calls = Calls()
    let disk = SimulatedFileSystem()
    let observed = FaultInjectingFileSystem(base: disk) { calls.note($0) }
    let session = Session(observed)
    try session.run(workload.preparation + workload.steps)
    try session.close()
    // Calls on an open file are recorded under the name by which it was opened.
    let afterRename = calls.all.drop { $0.operation != .rename }
    let ofAnchor = afterRename.filter { $0.path.contains("\(Session.path)/anchor") }.map(\.operation)
    #expect(ofAnchor.count > 1)
    for (first, second) in zip(ofAnchor, ofAnchor.dropFirst()) { #expect(first != .write || second == .sync) }
  }

  /// Opens an image, checks its rows and commits. Then checks the images that killing the process may leave.
  private func goOn(in image: CrashImage, from rows: Rows) throws {
    let disk = image.mounted()
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: disk)
    #expect(try Session.rows(of: engine).summary == rows.summary, "\(image)")
    try engine.write { try $0.put("after", [1]) }
    var next = rows
    next["after"] = [1]
    for killed in disk.crashImages(.prefixesOnly) {
      #expect(try rowsFound(in: killed).summary == next.summary, "\(image), \(killed)")
    }
  }

  private final class Calls: @unchecked Sendable {
    private let lock = Lock()
    private var noted: [Mutation] = []
    var all: [Mutation] { lock.withLock { noted } }
    func note(_ mutation: Mutation) { lock.withLock { noted.append(mutation) } }
  }

  @Test func `the workloads cover new segments, checkpoints and reopening`() throws {
    var names: Set<String> = []
    for workload in Workload.all {
      let disk = SimulatedFileSystem()
      let session = Session(disk)
      try session.run(workload.preparation + workload.steps)
      names.formUnion(try disk.openDirectory(Session.path).entries().map { "\(workload): \($0)" })
    }
    #expect(names.contains("\(Workload.checkpoints): 0000000000000002.pages"))
    #expect(names.contains("\(Workload.roll): 0000000000000002.log"))
    #expect(names.contains("\(Workload.reopening): 0000000000000006.log"))
    #expect(!names.contains("\(Workload.smallFiles): 0000000000000001.log"))
  }

  private func rowsFound(in image: CrashImage) throws -> Rows {
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: image.mounted())
    defer { try? engine.close() }
    return try Session.rows(of: engine)
  }
}
