import Foundation
import SwiftData

// Nothing here says which actor it is of: the settings of the module do.

enum Mood: String, Codable { case good, bad }

struct Point: Codable, Hashable { var x = 0.0 }

@Model
class Item {
  #Index<Item>([\.name])
  @Attribute(.unique) var name: String
  var mood: Mood = Mood.good
  var point: Point = Point()
  @Transient var cache = 3
  @Relationship(deleteRule: .cascade, inverse: \Part.item) var parts: [Part] = []
  init(name: String) { self.name = name }
  func rename(_ name: String) { self.name = name }
}

@Model
final class Special: Item {
  var extra = 0
  override init(name: String) { super.init(name: name) }
}

@Model
final class Part {
  var item: Item?
  var number: Int
  init(_ number: Int) { self.number = number }
}

enum FirstVersion: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Special.self, Part.self] }
}

@ModelActor
actor Importer {
  func add(_ name: String) throws {
    modelContext.insert(Item(name: name))
    try modelContext.save()
  }
}

@Observable
final class Screen {
  let container: ModelContainer
  var items: [Item] = []
  init(_ container: ModelContainer) { self.container = container }

  func load(_ name: String) throws {
    items = try container.mainContext.fetch(
      FetchDescriptor(predicate: #Predicate { $0.name != name }, sortBy: [SortDescriptor(\.name)]))
  }
}
