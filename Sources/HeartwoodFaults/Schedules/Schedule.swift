/// Which thread runs when, as the places where that differs from the default: printed as one line, and read back from it.
///
/// By default a thread runs until it waits or ends; then the next one in the order of their numbers goes on, and a
/// sleeping one only where no other can. A place is a thread and how many decisions were made at its points before.
public struct Schedule: Hashable, Sendable {
  /// A decision: the thread at whose point it is made, -1 before the first runs, and the number of such decisions before.
  struct Place: Hashable, Sendable {
    var thread: Int
    var step: Int
  }

  /// At one place, another thread than the default.
  struct Switch: Hashable, Sendable {
    var place: Place
    var next: Int
  }

  /// In the order in which they happen.
  var switches: [Switch]

  init(_ switches: [Switch] = []) { self.switches = switches }
}

extension Schedule: LosslessStringConvertible {
  /// The line: `schedule start>1 0.14>1 2.3>0`, which begins with thread 1 and goes on with it after 14 points of thread 0.
  public var description: String {
    (["schedule"] + switches.map { "\($0.place)>\($0.next)" }).joined(separator: " ")
  }

  /// Reads a line that `description` made; nil where it is none.
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
