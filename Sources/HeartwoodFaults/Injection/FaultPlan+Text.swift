import HeartwoodFiles

// Grammar: clauses with semicolons between them, or `nothing`.
//   space N | reads N | writes N | limits may stay unused
//   ACTION on CALLS [of "PATTERN"] (at | every | from) N [may stay unused]
// ACTION:
//   fail with "KIND" [after half | after all] | shorten to N | tear keeping N and CONTENT
//   misdirect by N | flip N bits with seed N | sync that BEHAVIOR | jump by N

extension FaultPlan: CustomStringConvertible {
  /// The plan on one line, which ``init(parsing:)`` parses.
  public var description: String {
    var clauses: [String] = []
    if let spaceLimit { clauses.append("space \(spaceLimit)") }
    if let largestRead { clauses.append("reads \(largestRead)") }
    if let largestWrite { clauses.append("writes \(largestWrite)") }
    if limitsMayStayUnused { clauses.append("limits may stay unused") }
    clauses += faults.map(\.description)
    return clauses.isEmpty ? "nothing" : clauses.joined(separator: "; ")
  }
}

extension FaultPlan.Fault: CustomStringConvertible {
  /// The fault as a clause of the plan's line.
  public var description: String {
    let files = file.isEmpty ? "" : " of \(file.quoted)"
    let unused = mayStayUnused ? " may stay unused" : ""
    return "\(action) on \(calls)\(files) \(occurrence)\(unused)"
  }
}

extension FaultPlan.Action: CustomStringConvertible {
  /// The action as a part of the plan's line.
  public var description: String {
    switch self {
    case .fail(let code, .none): "fail with \(code.rawValue.quoted)"
    case .fail(let code, .half): "fail with \(code.rawValue.quoted) after half"
    case .fail(let code, .whole): "fail with \(code.rawValue.quoted) after all"
    case .shorten(let count): "shorten to \(count)"
    case .tear(let kept, let rest): "tear keeping \(kept) and \(rest)"
    case .misdirect(let distance): "misdirect by \(distance)"
    case .flipBits(let count, let seed): "flip \(count) bits with seed \(seed)"
    case .sync(let behavior): "sync that \(behavior)"
    case .jumpClock(let nanoseconds): "jump by \(nanoseconds)"
    }
  }
}

extension FaultPlan.Calls: CustomStringConvertible {
  /// The calls as a part of the plan's line.
  public var description: String {
    switch self {
    case .of(let operation): operation.rawValue
    case .mutations: "mutations"
    case .any: "any"
    }
  }

  init?(word: String) {
    switch word {
    case "mutations": self = .mutations
    case "any": self = .any
    default:
      guard let operation = FileSystemError.Operation(rawValue: word) else { return nil }
      self = .of(operation)
    }
  }
}

extension FaultPlan.Occurrence: CustomStringConvertible {
  /// The occurrence as a part of the plan's line.
  public var description: String {
    switch self {
    case .nth(let number): "at \(number)"
    case .every(let period): "every \(period)"
    case .from(let first): "from \(first)"
    }
  }
}

extension String {
  /// The text in quotation marks, escaped to fit on one line.
  fileprivate var quoted: String {
    var text = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
