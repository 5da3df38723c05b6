import TestSupport

@testable import HeartwoodCommand

/// A store of one test, imported from a model and objects.
struct SmallStore {
  let directory: TemporaryFolder
  let path: String

  init(_ entities: String, _ objects: String, type: String = "log") throws {
    directory = try TemporaryFolder()
    path = directory.path("store.heartwood")
    let file = try directory.file(
      "store.json", #"{"model": {"entities": {\#(entities)}}, "objects": [\#(objects)]}"#)
    let run = CommandRun("import", path, file, "--type", type)
    guard run.status == .success else { throw CommandFailure.data(run.notes) }
  }

  @discardableResult func run(_ words: String...) -> CommandRun {
    CommandRun([words[0], path] + words.dropFirst())
  }

  /// Imports objects, which update those with the same values.
  @discardableResult func upsert(_ objects: String, by names: String) throws -> CommandRun {
    run("import", try directory.file("objects.json", "[\(objects)]"), "--upsert", names)
  }

  /// Sets values of the objects of an entity.
  @discardableResult func set(
    _ values: String, of entity: String, where condition: String = "TRUEPREDICATE"
  ) -> CommandRun {
    run("update", entity, "--set", values, "--where", condition)
  }

  /// The number of the newest transaction.
  var newest: String {
    run("history", "--limit", "1").output.split(separator: " ").first.map(String.init) ?? ""
  }

  /// The values of one column, in the order of another.
  func column(_ entity: String, _ column: String, by sort: String) -> [String] {
    run("fetch", entity, "--columns", column, "--sort", sort, "--format", "csv").output
      .split(separator: "\n", omittingEmptySubsequences: false).dropFirst().dropLast().map(String.init)
  }
}
