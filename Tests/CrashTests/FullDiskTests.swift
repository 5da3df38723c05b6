import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

@Suite struct FullDiskTests {
  @Test func `on a full disk commits fail, reads continue, and free space makes the store writable again`()
    throws
  {
    let disk = SimulatedFileSystem()
    let fileSystem = FaultInjectingFileSystem(base: disk, plan: FaultPlan(spaceLimit: 300_000))
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: fileSystem)
    var rows: Rows = [:]
    var refusals = 0
    var number = 0
    while refusals < 20 {
      let key = "key \(number)"
      let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 500 + number * 37 % 4000)
      do {
        try engine.write { try $0.put(key, value) }
        rows[key] = value
      } catch let error as EngineError {
        #expect(error.code == .noSpace, "\(error)")
        refusals += 1
      }
      number += 1
    }
    #expect(rows.count > 20)
    #expect(try Session.rows(of: engine) == rows)
    #expect(throws: EngineError.self) { try engine.checkpoint() }
    #expect(try Session.rows(of: engine) == rows)
    for image in disk.crashImages(.prefixesOnly) {
      let found = try Engine(at: Session.path, options: Session.options, fileSystem: image.mounted())
      #expect(try Session.rows(of: found) == rows)
    }
    fileSystem.use(FaultPlan())
    try engine.write { try $0.put("space", [1]) }
    rows["space"] = [1]
    try engine.checkpoint()
    #expect(try engine.verify().findings == [])
    try engine.close()
    let reopened = try Engine(at: Session.path, options: Session.options, fileSystem: disk)
    #expect(try Session.rows(of: reopened) == rows)
  }

  @Test func `a store that was not closed opens on a full disk`() throws {
    let disk = SimulatedFileSystem()
    let session = Session(disk)
    try session.run([.commit(.full, [.put("a", bytes: 5000)]), .checkpoint])
    try session.run(.commit(.full, [.put("b", bytes: 50)]))
    let image = try #require(disk.crashImages().first { _ in true })
    let full = FaultInjectingFileSystem(base: image.mounted(), plan: FaultPlan(spaceLimit: 0))
    for access in [EngineOptions.Access.readWrite, .readOnly] {
      var options = Session.options
      options.access = access
      let engine = try Engine(at: Session.path, options: options, fileSystem: full)
      #expect(try Session.rows(of: engine) == session.reference.newest)
      try engine.close()
    }
  }
}
