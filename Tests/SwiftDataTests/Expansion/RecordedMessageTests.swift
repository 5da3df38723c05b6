import Foundation
import Testing

@testable import SwiftDataExpansion

/// Messages of the compiler of Swift 6.3.1, and the answers that it has compiled. They are recorded between the compiler and the program;
/// only the list of the compiler's features in `staticBuildConfiguration` is left out.
struct RecordedMessageTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Recorded")

  static let names = [
    "Handshake", "Model-member", "Model-memberAttribute", "Model-extension", "Property-accessor",
    "Property-peer",
    "TransformableProperty-accessor", "TransformableProperty-peer", "Attribute", "Relationship", "Transient",
    "Unique", "Index", "ModelActor-member", "ModelActor-extension", "Predicate", "Expression",
    "Mistake-member", "Mistake-memberAttribute", "Mistake-extension",
  ]

  /// A part of a message with its keys in order, so that equal ones are equal texts.
  private static func text(_ part: Any?) throws -> String {
    let data = try JSONSerialization.data(
      withJSONObject: try #require(part), options: [.sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
  }

  @Test(arguments: names) func `a recorded message has the recorded answer`(name: String) throws {
    let file = Self.folder.appending(path: "\(name).json")
    let recorded = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    let message = try Self.text(recorded["request"])
    let request = try JSONDecoder().decode(PluginRequest.self, from: Data(message.utf8))
    let answer = try JSONSerialization.jsonObject(with: JSONEncoder().encode(Expansion.answer(request)))
    #expect(try Self.text(answer) == Self.text(recorded["answer"]))
  }

  @Test func `every recorded message is tested`() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(files) == Set(Self.names.map { $0 + ".json" }))
  }

  @Test(arguments: [(5, 5), (7, 7), (8, 7), (100, 7)]) func `the older version of the protocol is spoken`(
    asked: Int, answered: Int
  ) throws {
    let message = #"{"getCapability":{"capability":{"protocolVersion":\#(asked),"new":[1]}},"other":null}"#
    let request = try JSONDecoder().decode(PluginRequest.self, from: Data(message.utf8))
    let answer = String(decoding: try JSONEncoder().encode(Expansion.answer(request)), as: UTF8.self)
    #expect(answer.contains("\"protocolVersion\":\(answered)"))
  }

  @Test func `a message that is not known is answered`() throws {
    let request = try JSONDecoder().decode(
      PluginRequest.self, from: Data(#"{"loadPluginLibrary":{"libraryPath":"x","moduleName":"y"}}"#.utf8))
    let answer = String(decoding: try JSONEncoder().encode(Expansion.answer(request)), as: UTF8.self)
    #expect(answer.contains("\"loadPluginLibraryResult\"") && answer.contains("\"loaded\":false"))
  }
}
