import Foundation

/// Dates as text in ISO 8601.
package enum DateText {
  /// Parses a date and time, with or without fractional seconds, or a date alone, which means midnight UTC.
  ///
  /// - Returns: Nil if the text has another form, or if there is no such day or time.
  package static func date(_ text: String) -> Date? {
    let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    guard let day = parts.first, exists(day) else { return nil }
    guard parts.count == 2 else { return try? dayStyle.parse(text) }
    guard let (clock, fraction, zone) = split(parts[1]), existsTime(clock), isZone(zone) else { return nil }
    guard let date = try? Date.ISO8601FormatStyle().parse("\(day)T\(clock)\(zone)") else { return nil }
    return fraction.isEmpty ? date : adding(String(fraction), to: date)
  }

  /// The date in UTC with as many digits as it takes to read the same value back.
  package static func text(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    let whole = seconds.rounded(.down)
    let text = Date(timeIntervalSinceReferenceDate: whole).formatted(Date.ISO8601FormatStyle())
    guard seconds != whole, text.last == "Z" else { return text }
    let digits = fractionDigits(seconds.magnitude)
    let fraction = seconds < 0 ? complement(digits) : digits
    return text.dropLast() + "."
      + fraction.padding(toLength: max(3, fraction.count), withPad: "0", startingAt: 0) + "Z"
  }

  /// A date as text, or as a number of seconds since 2001 where no text is exact.
  package static func json(_ seconds: Double) -> JSONValue {
    if seconds.isFinite, seconds.magnitude < 1e11, seconds != 0 || seconds.sign == .plus {
      let text = text(Date(timeIntervalSinceReferenceDate: seconds))
      if let read = date(text), read.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern {
        return .string(text)
      }
    }
    return .number(seconds)
  }

  private static let dayStyle = Date.ISO8601FormatStyle().year().month().day()

  /// Splits a time such as `12:00:00.5+02:00`; the fraction is empty if there is none.
  private static func split(
    _ time: Substring
  ) -> (clock: Substring, fraction: Substring, zone: Substring)? {
    guard let end = time.lastIndex(where: { "Z+-".contains($0) }) else { return nil }
    let parts = time[..<end].split(separator: ".", omittingEmptySubsequences: false)
    if parts.count == 1 { return (parts[0], "", time[end...]) }
    guard parts.count == 2, number(parts[1].prefix(1), below: 10) else { return nil }
    return parts[1].utf8.allSatisfy(isDigit) ? (parts[0], parts[1], time[end...]) : nil
  }

  /// Whether the calendar has this day. Parsing alone accepts 29 February of every year.
  private static func exists(_ day: Substring) -> Bool {
    guard let date = try? dayStyle.parse(String(day)) else { return false }
    return date.formatted(dayStyle) == day
  }

  private static func existsTime(_ clock: Substring) -> Bool {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 3 && parts.allSatisfy { $0.utf8.count == 2 }
      && zip(parts, [24, 60, 60]).allSatisfy { number($0, below: $1) }
  }

  /// Whether this is `Z`, or an offset such as `+02:00` or `+0200`.
  private static func isZone(_ zone: Substring) -> Bool {
    if zone == "Z" { return true }
    let offset = zone.dropFirst()
    let (hours, minutes) = (offset.prefix(2), offset.suffix(2))
    return number(hours, below: 24) && number(minutes, below: 60)
      && (offset == hours + minutes || offset == hours + ":" + minutes)
  }

  private static func number(_ digits: Substring, below limit: Int) -> Bool {
    guard digits.utf8.allSatisfy(isDigit), let number = Int(digits) else { return false }
    return number < limit
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// Adds a fraction of a second to whole seconds as decimal numbers, so that only the sum is rounded.
  private static func adding(_ fraction: String, to date: Date) -> Date? {
    guard let whole = Int64(exactly: date.timeIntervalSinceReferenceDate) else { return nil }
    guard fraction.contains(where: { $0 != "0" }) else { return date }
    let sum = whole < 0 ? "-\(-(whole + 1)).\(complement(fraction))" : "\(whole).\(fraction)"
    return Double(sum).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// The fewest digits behind the point that identify a positive number with a fraction.
  private static func fractionDigits(_ number: Double) -> String {
    let parts = number.description.split(separator: "e")
    let digits = parts[0].split(separator: ".").map(String.init)
    guard parts.count == 2, let exponent = Int(parts[1]) else { return digits[1] }
    // Such as 2.5e-07.
    let fraction = digits.count < 2 || digits[1] == "0" ? "" : digits[1]
    return String(repeating: "0", count: -exponent - 1) + digits[0] + fraction
  }

  /// The digits of one minus a fraction that is not zero.
  private static func complement(_ fraction: String) -> String {
    let digits = fraction.utf8.map { Int($0) - 0x30 }
    let last = digits.lastIndex { $0 != 0 } ?? 0
    return digits[...last].enumerated().map { "\(($0 == last ? 10 : 9) - $1)" }.joined()
  }
}
