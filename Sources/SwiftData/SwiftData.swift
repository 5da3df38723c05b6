// As Apple's framework does: a file that imports SwiftData alone has these.
@_exported import Foundation
@_exported import Observation
@_exported import class CoreData.NSSecureUnarchiveFromDataTransformer
@_exported import class CoreData.UndoManager
@_exported import class CoreData.ValueTransformer
@_exported import struct CoreData.NSValueTransformerName
