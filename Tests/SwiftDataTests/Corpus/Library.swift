import Foundation
import SwiftData

/// A container in memory of the models of the corpus.
enum Library {
  static let models: [any PersistentModel.Type] = [
    Plain.self, Optionals.self, Values.self, Inferred.self, Space.Deep.Nested.self, Author.self, Book.self,
    Node.self,
    Ticket.self, Place.self, Vehicle.self, Car.self, SportsCar.self, Palette.self,
  ]

  static func container() throws -> ModelContainer {
    try ModelContainer(for: Schema(models), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  static func context() throws -> ModelContext { ModelContext(try container()) }

  /// A context of a container in memory of other models.
  static func context(of models: any PersistentModel.Type...) throws -> ModelContext {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    return ModelContext(try ModelContainer(for: Schema(models), configurations: configuration))
  }

  /// A folder that is removed after the block.
  static func inFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}
