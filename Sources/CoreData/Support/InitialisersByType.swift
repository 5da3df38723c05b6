import Heartwood
import HeartwoodBytes

/// Containers and contexts, which are made by types that are known when the program runs, too, as in `T(name: name, managedObjectModel: model)`.
/// On Apple's systems every initialiser can be called so. Here that is one of the extensions below: the classes' own are not required ones,
/// as these would have to be in every class of a program that has initialisers of its own.
public protocol _MadeByType {}

/// A class of containers that has the initialisers of its superclass: the plugin that translates sources declares it.
public protocol _ContainerMadeByType {
  /// A container of the class.
  static func _made(name: String, managedObjectModel model: NSManagedObjectModel) -> NSPersistentContainer
}

/// A class of contexts that has the initialisers of its superclass: the plugin that translates sources declares it.
public protocol _ContextMadeByType {
  /// A context of the class.
  static func _made(concurrencyType: NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext
}

extension NSPersistentContainer: _MadeByType {}
extension NSManagedObjectContext: _MadeByType {}

extension _MadeByType where Self: NSPersistentContainer {
  /// A container of a model, of the class that the type is.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    let made =
      (Self.self as? any _ContainerMadeByType.Type)?._made(name: name, managedObjectModel: model)
      ?? NSPersistentContainer(name: name, managedObjectModel: model)
    self = asMade(made)
  }

  /// A container of the model with this name, of the class that the type is.
  ///
  /// - Precondition: There is such a model.
  public init(name: String) {
    self.init(name: name, managedObjectModel: NSPersistentContainer.model(named: name))
  }
}

extension _MadeByType where Self: NSManagedObjectContext {
  /// A context without a store or parent, of the class that the type is.
  public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
    let made =
      (Self.self as? any _ContextMadeByType.Type)?._made(concurrencyType: concurrencyType)
      ?? NSManagedObjectContext(concurrencyType: concurrencyType)
    self = asMade(made)
  }
}

/// The object that was made for a type; it is of another class if nothing makes objects of the type's.
private func asMade<Wanted>(_ made: AnyObject) -> Wanted {
  guard type(of: made) == Wanted.self, let wanted = made as? Wanted else {
    programError(
      "a \(Wanted.self) cannot be made by a type that is known when the program runs: make it by its own name, or translate its source, with initialisers that it inherits"
    )
  }
  return wanted
}
