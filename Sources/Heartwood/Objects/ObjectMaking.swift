import HeartwoodBytes

/// Makes objects of a class that is known at run time only, without a `required` initialiser: subclasses may override
/// `init(entity:insertInto:)` as they like, and have designated initialisers of their own.
///
/// A class has a slot in its table of methods for each designated initialiser of its superclass. `_ObjectMaker` has the same superclass as
/// `ManagedObject`, and its first member is the same initialiser, but required, so that the compiler calls what is in the slot. A
/// class that neither inherits nor overrides the initialiser stops with "use of unimplemented initializer".
///
/// The first use makes an object of a class that is known here, and stops the program if it is not what it should be.
enum ObjectMaking {
  /// A new object.
  @inline(__always)
  static func make(
    _ type: ManagedObject.Type, _ entity: EntityDescription, insertInto context: ManagedObjectContext? = nil
  ) -> ManagedObject { makeThroughSlot(type, entity, context) }

  // Not optimised, so that the call is not replaced by one of the initialiser of `_ObjectMaker`.
  @_optimize(none)
  private static func makeThroughSlot(
    _ type: ManagedObject.Type, _ entity: EntityDescription, _ context: ManagedObjectContext?
  ) -> ManagedObject {
    let maker = unsafeBitCast(type, to: _ObjectMaker.Type.self)
    return unsafeBitCast(maker.init(entity: entity, insertInto: context), to: ManagedObject.self)
  }

  /// Whether the slots are where they should be.
  static let isSound: Bool = {
    let object = make(ProbedObject.self, PropertyRecorder.entity)
    return (object as? ProbedObject)?.mark == ProbedObject.mark
  }()

  /// Stops the program if the slots are not where they should be.
  static func check() {
    require(
      isSound,
      "this compiler lays out classes in another way than Heartwood expects: use another version of the toolchain, or of Heartwood"
    )
  }
}

/// A class whose first member is the same as that of `ManagedObject`.
open class _ObjectMaker: _ManagedObjectFields {
  /// Never called itself.
  public required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    programError("an object without a class was made")
  }
}

/// A class with an initialiser of its own and a value, which the check makes.
private final class ProbedObject: ManagedObject {
  static let mark = 0x5eed_ab1e
  let mark: Int

  override init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    mark = Self.mark
    super.init(entity: entity, insertInto: context)
  }

  override class var _declaresProperties: Bool { false }
}
