// As Apple's framework does: a file that imports Core Data alone has Foundation's types.
@_exported import Foundation
