import Foundation
import TestSupport

extension TemporaryFolder {
  /// The place of a store in it.
  package var store: URL { url.appending(path: "Store.heartwood") }
}
