import Foundation

@testable import Heartwood

/// A model or a mapping model that Apple's tools have compiled, compressed or not.
enum CompiledModelTarget {
  static func finding(_ bytes: [UInt8]) -> String? {
    do throws(HeartwoodError) {
      if CompiledMapping.isLikely(Data(bytes)) {
        _ = try MappingModel(compiled: Data(bytes), file: "x.cdm") { _ in EntityMigrationPolicy() }
        return nil
      }
      var reader = CompiledModelReader(file: "x.mom")
      let document = try reader.document(of: CompiledModelReader.archive(Data(bytes), file: "x.mom"))
      let model = ManagedObjectModel(entities: document.entities.map { EntityDescription(name: $0.name) })
      try document.fill(model.entities)
      try model.checkExpressions()
      return nil
    } catch {
      return error.message.isEmpty ? "an error without a message" : nil
    }
  }

  static var seeds: [[UInt8]] {
    let folder = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
      .appending(path: "Fixtures/CompiledModels")
    let names = [
      "Library.momd/Library.mom", "Library.momd/Library 2.mom", "Library.cache", "Library.cdm", "Changed.mom",
      "Circular.mom",
    ]
    return names.compactMap { try? [UInt8](Data(contentsOf: folder.appending(path: $0))) }
  }
}
