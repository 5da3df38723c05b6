import Foundation
import Heartwood

/// The identifier of an object: a value that any thread may use. Unlike Core Data's it is a structure.
public typealias NSManagedObjectID = ManagedObjectID

extension ManagedObjectID: CVarArg {
  /// Needed for arguments of formats; never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
