@_exported import CoreData
