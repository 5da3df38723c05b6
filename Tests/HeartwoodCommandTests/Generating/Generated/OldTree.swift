// Made by heartwood generate. Changes are lost when it is made again.
// swift-format-ignore-file

import Foundation
import Heartwood

/// An object of the entity OldTree.
final class OldTree: Tree {
  @Attribute var `class`: String?
  @Attribute var planted: Date = Date(timeIntervalSinceReferenceDate: 0.0)

  override class var renamed: String? { "Veteran" }
}
