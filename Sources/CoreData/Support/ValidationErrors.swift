import Foundation
import Heartwood

/// An error of a validation as Core Data has it, with the one of Heartwood that it was made of.
final class ValidationError: NSError, HeartwoodErrorCarrier, @unchecked Sendable {
  let carriedError: HeartwoodError

  init(_ error: HeartwoodError, _ cocoa: NSError) {
    carriedError = error
    super.init(domain: cocoa.domain, code: cocoa.code, userInfo: cocoa.userInfo)
  }

  required init?(coder: NSCoder) { nil }
}

extension NSManagedObject {
  /// Runs a validation, and makes its errors those of Core Data.
  final func validating(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as HeartwoodError {
      let cocoa = error.cocoaError(in: managedObjectContext)
      let isOwn = error.code == .managedObjectValidation && error.underlying != nil
      throw isOwn ? cocoa : ValidationError(error, cocoa as NSError)
    }
  }
}
