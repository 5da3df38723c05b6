import Foundation
import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import FaultProgramme

/// Crashes and failing calls during migrations by mapping and in stages.
@Suite(.serialized) struct `A migration by mapping or in stages that is interrupted` {
  private static let url = URL(filePath: "/store")
  private static let items = 9

  private static func edit(_ fileSystem: any FileSystem) -> MigratedBoxes.Edit {
    { description in
      description.fileSystem = fileSystem
      description.isBuffered = true
      description.engineOptions = GraphSession.options
    }
  }

  private static func prepare(_ fileSystem: any FileSystem) throws {
    try MigratedBoxes.make(url, items: items, edit(fileSystem))
  }

  private static func states(_ way: MigrationWay) throws -> [[String]] {
    let edit = edit(SimulatedFileSystem())
    let states = try way.states(in: URL(filePath: "/"), edit) {
      try MigratedBoxes.make($0, items: items, edit)
    }
    #expect(Set(states).count == (way == .staged ? 4 : 2))
    return states
  }

  /// The store is in one of its states, and is migrated then.
  private static func check(
    _ fileSystem: any FileSystem, _ way: MigrationWay, isDone: Bool, _ states: [[String]]
  ) throws {
    let edit = edit(fileSystem)
    let found = try MigratedBoxes.facts(url, edit)
    guard let state = states.lastIndex(of: found), !isDone || state == states.count - 1 else {
      throw Finding("\(isDone ? "done, and " : "")neither as before nor migrated: \(found.prefix(5))")
    }
    try way.migrate(url, edit)
    try require(try MigratedBoxes.facts(url, edit) == states.last, "migrated again it has other objects")
  }

  // MIG-17
  @Test(arguments: [MigrationWay.mapping, .staged])
  func `a crash at any call of a mapping or a stage leaves a whole store, which is migrated again`(
    way: MigrationWay
  ) throws {
    let states = try Self.states(way)
    var limits = CrashImageLimits()
    limits.imageCount = 2
    let report = try CrashExplorer(seed: 25, limits: limits).run(
      acknowledging: Int.self, prepare: Self.prepare,
      workload: { fileSystem, acknowledge in
        try way.migrate(Self.url, Self.edit(fileSystem))
        acknowledge(1)
      },
      verify: { fileSystem, acknowledged in
        try Self.check(fileSystem, way, isDone: !acknowledged.isEmpty, states)
      })
    print("\(way): \(report)")
    try report.check()
    #expect(report.calls > 20 && report.images > report.calls)
  }

  // MIG-17
  @Test(arguments: [MigrationWay.mapping, .staged])
  func `a call of a mapping or a stage that fails leaves a whole store, which is migrated again`(
    way: MigrationWay
  ) throws {
    let states = try Self.states(way)
    func disk() throws -> SimulatedFileSystem {
      let disk = SimulatedFileSystem()
      try Self.prepare(disk)
      return disk
    }
    let calls = try FailingCall.all(over: disk()) { try way.migrate(Self.url, Self.edit($0)) }
    var failed = 0
    let tried = Array(calls.sampled(every: 11))
    for (number, call) in tried.enumerated() {
      let disk = try disk()
      let plan = call.plan(WayToFail.usual[number % WayToFail.usual.count])
      var isDone = false
      do {
        try way.migrate(Self.url, Self.edit(FaultInjectingFileSystem(base: disk, plan: plan)))
        isDone = true
      } catch { failed += 1 }
      try Self.check(disk, way, isDone: isDone, states)
    }
    print("\(way): \(tried.count) of \(calls.count) failing calls, \(failed) refused")
    #expect(calls.count > 20 && failed > 5)
  }
}
