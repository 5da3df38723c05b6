import Foundation
import Heartwood
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodCommand

/// One of the applications of `Fixtures/Models`, with the ten versions of its model.
struct Application: Sendable, CustomTestStringConvertible {
  static let all = [Application(name: "music"), Application(name: "shop")]

  let name: String

  var testDescription: String { name }

  static let versions = 1...10

  /// Whether a usual run tries this version of it: two of three, each application others. A long run tries all.
  func tries(_ version: Int) -> Bool { LongRun.isWanted || version % 3 == (name == "shop" ? 2 : 0) }

  /// The file of a version's model.
  func path(_ version: Int) -> String {
    Fixture.path("Models/\(name)-\(version < 10 ? "0" : "")\(version).json")
  }

  func model(_ version: Int) throws -> ManagedObjectModel {
    let path = path(version)
    return try Self.models.withLock { models in
      let model = try models[path] ?? ModelArgument.model(path)
      models[path] = model
      return model
    }
  }

  /// By path: reading one takes longer than most of what is done with it.
  private static let models = Guarded<[String: ManagedObjectModel]>([:])

  /// The changes of each version, from the second on.
  func steps() throws -> [Step] {
    let file = URL(fileURLWithPath: Fixture.path("Models/\(name)-changes.json"))
    return try JSONDecoder().decode([Step].self, from: Data(contentsOf: file))
  }

  /// The changes from one version to the next.
  struct Step: Decodable, Sendable {
    let from: Int
    let to: Int
    /// The changes by the two models.
    let changes: [Change]
    /// The changes that a stage makes by code; nil for none.
    let code: [Change]?
  }

  /// A change, in words and names.
  struct Change: Decodable, Sendable {
    let `do`: String
    var entity = ""
    var name: String?
    var to: String?
    var parent: String?
    var inverse: String?
    /// A default as text.
    var value: String?
    var type: String?
    /// The properties that an entity keeps.
    var keeps: [String]?
    /// The relationships, with their entities, that no longer lead to it.
    var links: [String]?
    /// The attributes that a value becomes.
    var parts: [String]?
    /// When code runs: before its step, or after it.
    var when: String?
  }
}
