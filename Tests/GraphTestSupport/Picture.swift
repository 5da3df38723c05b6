import Foundation
import Heartwood

/// Data that may be in files of their own.
package final class Picture: ManagedObject {
  @Attribute package var title = ""
  @Attribute(.allowsExternalStorage) package var image: Data?
  @Attribute([.allowsExternalStorage, .preservesValueInHistoryOnDeletion]) package var preview: Data?
}
