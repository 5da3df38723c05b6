// As Apple's framework does: a file that imports Core Data alone has Foundation's types.
@_exported import Foundation
// Names of this module stand for types of Heartwood. Their users have imported its module through this one declaration, and see no other name
// of it: so public and inlinable code, default arguments and members of these types compile as with Apple's framework.
@_exported import enum Heartwood._CoreDataTypes
