import CoreData
import Testing

/// A container of a program, as the plugin translates its source.
private class NamedContainer: NSPersistentContainer, @unchecked Sendable {
  private(set) var isNamed = true
}
extension NamedContainer: CoreData._ContainerMadeByType {
  static func _made(name: String, managedObjectModel: NSManagedObjectModel) -> NSPersistentContainer {
    NamedContainer(name: name, managedObjectModel: managedObjectModel)
  }
}

private final class NamedContext: NSManagedObjectContext, @unchecked Sendable {}
extension NamedContext: CoreData._ContextMadeByType {
  static func _made(concurrencyType: NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext {
    NamedContext(concurrencyType: concurrencyType)
  }
}

/// A container with an initialiser of its own, which has those of its superclass no more.
private final class OwnContainer: NSPersistentContainer, @unchecked Sendable {
  init(of model: NSManagedObjectModel) { super.init(name: "own", managedObjectModel: model) }
}

extension NSPersistentContainer {
  /// As test helpers of public libraries make containers.
  fileprivate static func inMemory(named name: String, _ model: NSManagedObjectModel) -> Self {
    let container = self.init(name: name, managedObjectModel: model)
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    ]
    return container
  }

  fileprivate convenience init(short name: String, _ model: NSManagedObjectModel) {
    self.init(name: name + "!", managedObjectModel: model)
  }
}

private struct Stack<Container: NSPersistentContainer, Context: NSManagedObjectContext> {
  let container: Container
  let context: Context

  init(_ type: Container.Type, _ model: NSManagedObjectModel) {
    container = type.init(name: "stack", managedObjectModel: model)
    context = Context(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = container.persistentStoreCoordinator
  }
}

@Suite struct `Containers and contexts of type parameters` {
  @Test func `are made as those of their own names are`() throws {
    let model = Library.makeModel()
    let plain = Stack<NSPersistentContainer, NSManagedObjectContext>(NSPersistentContainer.self, model)
    #expect(plain.container.name == "stack" && plain.container.managedObjectModel == model)
    #expect(plain.context.concurrencyType == .privateQueueConcurrencyType)
    let container = NSPersistentContainer.inMemory(named: "memory", model)
    var problems: [any Error] = []
    container.loadPersistentStores { problems += [$1].compactMap { $0 } }
    #expect(problems.isEmpty && container.name == "memory")
    let dynamic = type(of: container).init(name: "same", managedObjectModel: model)
    #expect(dynamic.name == "same")
  }

  @Test func `may be of a class that the plugin has translated`() {
    let named = Stack<NamedContainer, NamedContext>(NamedContainer.self, Library.makeModel())
    #expect(named.container.isNamed && type(of: named.context) == NamedContext.self)
    let inMemory: NamedContainer = .inMemory(named: "memory", Library.makeModel())
    #expect(inMemory.isNamed && inMemory.name == "memory")
  }

  @Test func `leave the initialisers of classes as they are`() {
    let model = Library.makeModel()
    #expect(OwnContainer(of: model).name == "own")
    #expect(NSPersistentContainer(short: "short", model).name == "short!")
    let make: (String, NSManagedObjectModel) -> NSPersistentContainer = NSPersistentContainer.init
    #expect(make("made", model).name == "made")
  }

  @Test func `of a class that is not translated end the program with a reason`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Stack<OwnContainer, NSManagedObjectContext>(OwnContainer.self, Library.makeModel())
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("make it by its own name"), "\(text)")
  }
}
