import Foundation
import Testing

@testable import CoreDataTranslation

@Suite struct `Models for the program` {
  /// - Parameters:
  ///   - current: The version that the list names; nil for a list without a name.
  ///   - hasList: Whether there is a list.
  private func withFolder(
    of versions: [String], current: String?, hasList: Bool = true, _ body: (String) throws -> Void
  ) throws {
    let parent = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let bundle = parent.appending(path: "Library.xcdatamodeld")
    defer { try? FileManager.default.removeItem(at: parent) }
    for version in versions {
      let folder = bundle.appending(path: version + ".xcdatamodel")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("<model/>".utf8).write(to: folder.appending(path: "contents"))
    }
    let list = current.map { ["_XCCurrentVersionName": $0 + ".xcdatamodel"] } ?? [:]
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    if hasList { try data.write(to: bundle.appending(path: ".xccurrentversion")) }
    try body(bundle.path)
  }

  @Test(arguments: [
    (["Library"], "Library", "Library"), (["Other"], "Library", "Other"), (["A 1", "A 2"], "A 1", "A 1"),
    (["A 9", "A 10"], nil, "A 10"),
  ])
  func `the current version is the one that is named, the only one, or the last`(
    versions: [String], named: String?, current: String
  ) throws {
    for hasList in [true, false] where hasList || named == nil {
      try withFolder(of: versions, current: named, hasList: hasList) { path in
        let folder = try ModelFolder(path: path)
        #expect(folder.current == current)
      }
    }
  }

  @Test func `a current version that is none of several is refused`() throws {
    try withFolder(of: ["A 1", "A 2"], current: "B") { path in
      let error = try #require(throws: TranslationError.self) { try ModelFolder(path: path) }
      #expect("\(error)".contains("the current version B is missing"), "\(error)")
    }
  }
}
