import Foundation
import Heartwood

/// A past state of a store, as a command line names it: the number of a generation, a date, or the name of a hold.
enum Moment: Equatable {
  case generation(UInt64)
  case date(Date)
  case hold(String)

  /// Reads a word. What is neither a number nor a date is the name of a hold.
  init(_ text: String) {
    if let number = UInt64(text) {
      self = .generation(number)
    } else if let date = DateText.date(text) {
      // Dates are printed for people as the nearest millisecond, and the one of a transaction includes it. With more digits they are exact.
      let digits = text.drop { $0 != "." }.dropFirst().prefix(while: \.isNumber).count
      self = .date(digits > 3 ? date : date.addingTimeInterval(0.000_499_9))
    } else {
      self = .hold(text)
    }
  }
}

extension PersistentStoreCoordinator {
  /// The state of the only store at a moment.
  ///
  /// - Throws: If the store never had it, or has it no more.
  func queryGenerationToken(at moment: Moment) throws -> QueryGenerationToken {
    switch moment {
    case .generation(let number): try queryGenerationToken(forGeneration: number)
    case .date(let date): try queryGenerationToken(asOf: date)
    case .hold(let name): try queryGenerationToken(ofHold: name)
    }
  }
}
