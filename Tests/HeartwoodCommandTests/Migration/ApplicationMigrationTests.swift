import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

/// Two applications with models of the size that applications have, through their ten versions.
@Suite struct ApplicationMigrationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func store(_ application: Application, _ version: Int) -> ApplicationStore {
    ApplicationStore(application: application, url: folder.url.appending(path: "\(version).heartwood"))
  }

  /// Makes a store of each version, each from the one before, and checks each step.
  private func makeStores(_ application: Application) throws -> [PlainObjects] {
    let (steps, stages) = (try application.steps(), try application.stages())
    var found: [PlainObjects] = []
    for version in Application.versions {
      let store =
        version == 1
        ? store(application, 1)
        : try self.store(application, version - 1).copy(
          to: self.store(application, version).url)
      let filled = try store.with(version, { $0.stagedMigrationManager = stages }) { context in
        if let former = found.last {
          var expected = former
          expected.apply(steps[version - 2])
          expect(try PlainObjects(reading: context), expected, application, version - 1, version)
        }
        try store.fill(context, version)
        context.reset()
        return try PlainObjects(reading: context)
      }
      found.append(filled)
    }
    return found
  }

  private func expect(
    _ actual: PlainObjects, _ expected: PlainObjects, _ application: Application, _ from: Int, _ to: Int
  ) {
    let wrong = actual.differences(from: expected)
    #expect(
      wrong.isEmpty, "\(application.name), \(from) to \(to): \(wrong.prefix(12).joined(separator: "\n"))")
  }

  @Test(arguments: Application.all)
  func `an application has ten versions, with 20 to 60 entities`(application: Application) throws {
    var checksums: Set<String> = []
    for version in Application.versions {
      let model = try application.model(version)
      #expect((20...60).contains(model.entities.count))
      checksums.insert(model.versionChecksum)
    }
    #expect(checksums.count == 10)
    #expect(try application.steps().allSatisfy { $0.changes.count + ($0.code?.count ?? 0) >= 1 })
  }

  // MIG-04, MIG-05, MIG-06, MIG-20, MIG-28
  @Test(arguments: Application.all)
  func `a store of an application goes from version to version, and from each to the newest in one call`(
    application: Application
  ) throws {
    let made = try makeStores(application)
    #expect(made.allSatisfy { $0.objects.count >= 120 })
    let (steps, stages) = (try application.steps(), try application.stages())
    for version in 1..<10 where application.tries(version) {
      let copy = try store(application, version).copy(to: folder.url.appending(path: "newest-\(version)"))
      var expected = made[version - 1]
      for step in steps.dropFirst(version - 1) { expected.apply(step) }
      try copy.with(10, { $0.stagedMigrationManager = application.name == "shop" ? stages : nil }) {
        context in
        expect(try PlainObjects(reading: context), expected, application, version, 10)
        // Rows of many layouts are read, or written again.
        guard version.isMultiple(of: 3) else { return }
        try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
      }
      expect(try copy.read(10), expected, application, version, 10)
    }
  }

  // MIG-02, MIG-28
  @Test func `a mapping leads past a version with code, to the same objects as the stages`() throws {
    let application = Application.all[1]
    let (steps, stages) = (try application.steps(), try application.stages())
    let former = store(application, 4)
    try former.with(4) { try former.fill($0, 4) }
    let filled = try former.read(4)
    let staged = try former.copy(to: folder.url.appending(path: "staged.heartwood"))
    let mapping = try application.mapping(from: 4, to: 6)
    var expected = filled
    for step in steps[3...4] { expected.apply(step) }
    for (store, isStaged) in [(staged, true), (former, false)] {
      try store.with(6) {
        $0.stagedMigrationManager = isStaged ? stages : nil
        $0.mappingModel = isStaged ? nil : mapping
      } _: { _ in
      }
      expect(try store.read(6), expected, application, 4, 6)
    }
  }

  // MIG-07
  @Test(arguments: Application.all)
  func `the command says what each version changes, rehearses it, and does it`(application: Application)
    throws
  {
    let (made, steps) = (try makeStores(application), try application.steps())
    for step in steps where application.tries(step.to) {
      let store = store(application, step.from)
      let (path, model) = (store.url.path, application.path(step.to))
      let sentences = CommandRun("model", "diff", path, model)
      #expect(sentences.status == .success && !sentences.output.contains("do not differ"))
      let before = try FileManager.default.contentsOfDirectory(atPath: path)
      let rehearsal = CommandRun("migrate", path, model, "--dry-run")
      // Codes of coupons are made unique by code, which the command does not have.
      let isRefused = step.code?.contains { $0.when == "before" } ?? false
      #expect(rehearsal.status == (isRefused ? .dataError : .success), "\(step.to): \(rehearsal.notes)")
      if isRefused {
        #expect(rehearsal.output.contains("Coupon") && rehearsal.output.contains("code must be unique"))
      }
      expect(try store.read(step.from), made[step.from - 1], application, step.from, step.from)
      #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == before.count)
      guard !isRefused else { continue }
      let changes = sentences.output.split(separator: "\n").dropFirst().joined(separator: "\n")
      #expect(
        rehearsal.output.hasPrefix(changes) && rehearsal.output.contains("nothing was changed"))
      #expect(CommandRun("migrate", path, model, "--rewrite").output.contains("migrated in"))
      var expected = made[step.from - 1]
      expected.apply(step, withCode: false)
      expect(try store.read(step.to), expected, application, step.from, step.to)
    }
  }
}
