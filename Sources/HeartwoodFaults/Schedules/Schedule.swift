/// The order in which threads run, stored as its differences from the default order. Printed as one line, and
/// parsed from it.
///
/// By default a thread runs until it blocks or ends. Then the next ready thread in order of thread numbers
/// runs; a sleeping thread runs only if no other can. A place is a thread and the number of decisions made at
/// its points before.
public struct Schedule: Hashable, Sendable {
  /// The place of a decision: the thread at whose point it is made, or -1 before the first thread runs, and
  /// the number of earlier decisions at points of this thread.
  struct Place: Hashable, Sendable {
    var thread: Int
    var step: Int
  }

  /// A switch to another thread than the default one at a place.
  struct Switch: Hashable, Sendable {
    var place: Place
    var next: Int
  }

  /// The switches in the order in which they occur.
  var switches: [Switch]

  init(_ switches: [Switch] = []) { self.switches = switches }
}

extension Schedule: LosslessStringConvertible {
  /// The line: `schedule start>1 0.14>1 2.3>0` starts with thread 1 and switches to it again after 14 points
  /// of thread 0.
  public var description: String {
    (["schedule"] + switches.map { "\($0.place)>\($0.next)" }).joined(separator: " ")
  }

  /// Parses a line that `description` made. Returns nil if the line is not valid.
  public init?(_ description: String) {
    let words = description.split(separator: " ")
    guard words.first == "schedule" else { return nil }
    switches = []
    for word in words.dropFirst() {
      let halves = word.split(separator: ">")
      guard halves.count == 2, let place = Place(halves[0]), let next = Int(halves[1]), next >= 0 else {
        return nil
      }
      switches.append(Switch(place: place, next: next))
    }
  }
}

extension Schedule.Place: CustomStringConvertible {
  static let start = Self(thread: -1, step: 0)

  var description: String { self == .start ? "start" : "\(thread).\(step)" }

  init?(_ text: Substring) {
    if text == "start" {
      self = .start
      return
    }
    let numbers = text.split(separator: ".").map { Int($0) }
    guard numbers.count == 2, let thread = numbers[0], let step = numbers[1], thread >= 0, step >= 0 else {
      return nil
    }
    self.init(thread: thread, step: step)
  }
}
