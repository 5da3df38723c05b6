import Foundation
import Heartwood

/// A type that the model names in its user info.
enum Grade: Int16, AttributeValue {
  case low = 1
  case middle = 2
  case high = 3
}

/// A class that is written by hand; its properties are made as an extension.
final class Picker: ManagedObject {}

/// Plants a tree, saves it, and shows it from another context.
@main
struct Orchard {
  static func main() throws {
    let url = URL(filePath: CommandLine.arguments.dropFirst().first ?? "/dev/null")
    guard let file = Bundle.module.url(forResource: "Orchard", withExtension: "xcdatamodeld") else {
      throw CocoaError(.fileNoSuchFile)
    }
    let model = try ManagedObjectModel(
      contentsOf: file, classes: [Tree.self, OldTree.self, Fruit.self, Picker.self])
    let container = PersistentContainer(name: "Orchard", managedObjectModel: model)
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    let (tree, fruit) = (Tree(context: context), Fruit(context: context))
    (tree.kind, tree.tag, tree.row) = ("Apple", "a\(UUID())", Int32(try context.count(Tree.self)))
    fruit.grade = .high
    tree.addToFruits(fruit)
    try context.save()
    let reader = container.newBackgroundContext()
    for fruit in try reader.fetch(Fruit.self, where: { $0.tree.kind == "Apple" }) {
      print("a fruit of grade \(fruit.grade) on a tree of \(fruit.tree?.kind ?? "no kind")")
    }
    try container.close()
  }
}
