import Foundation

/// Dates as text in ISO 8601: of the Gregorian calendar, also before it was introduced. Years before 0000 and after 9999 have a sign, and up
/// to six digits.
package enum DateText {
  /// Parses a date and time, with or without fractional seconds, or a date alone, which means midnight UTC.
  ///
  /// - Returns: Nil if the text has another form, or if there is no such day or time.
  package static func date(_ text: String) -> Date? {
    let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let day = days(first) else { return nil }
    let midnight = day * CivilTime.secondsOfDay
    guard parts.count == 2 else { return Date(timeIntervalSinceReferenceDate: Double(midnight)) }
    guard let (clock, fraction, zone) = split(parts[1]), let time = time(clock), let offset = offset(zone)
    else {
      return nil
    }
    let date = Date(timeIntervalSinceReferenceDate: Double(midnight + time - offset))
    return fraction.isEmpty ? date : adding(String(fraction), to: date)
  }

  /// A date for people, with milliseconds only if they are not zero.
  package static func short(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds.magnitude < greatest else { return text(date) }
    let thousandths = Int64((seconds * 1000).rounded())
    let text = whole(CivilTime.floor(thousandths, 1000))
    let rest = CivilTime.modulo(thousandths, 1000)
    return rest == 0 ? text + "Z" : text + "." + padded(rest, 3) + "Z"
  }

  /// The date in UTC with as many digits as it takes to read the same value back.
  package static func text(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    let whole = seconds.rounded(.down)
    guard whole.magnitude < greatest else { return "\(seconds) seconds after 2001" }
    let text = Self.whole(Int64(whole)) + "Z"
    guard seconds != whole else { return text }
    let digits = fractionDigits(seconds.magnitude)
    let fraction = seconds < 0 ? complement(digits) : digits
    return text.dropLast() + "."
      + fraction.padding(toLength: max(3, fraction.count), withPad: "0", startingAt: 0) + "Z"
  }

  /// A date as text from which the same value is read.
  ///
  /// - Parameter seconds: Since the reference date.
  /// - Returns: Nil if there is none: for a negative zero, infinities, and years of more than six digits.
  package static func exact(_ seconds: Double) -> String? {
    guard seconds.isFinite, seconds.magnitude < greatest, seconds != 0 || seconds.sign == .plus else {
      return nil
    }
    let text = text(Date(timeIntervalSinceReferenceDate: seconds))
    return date(text)?.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern ? text : nil
  }

  /// Seconds from the reference date within which years have at most six digits.
  private static let greatest = 3.1e13

  /// The date and the time without a zone.
  private static func whole(_ seconds: Int64) -> String {
    let time = CivilTime(seconds: seconds)
    let sign = time.year < 0 ? "-" : time.year > 9999 ? "+" : ""
    let year = sign + padded(abs(time.year), 4)
    let second = time.secondOfDay
    return "\(year)-\(padded(time.month, 2))-\(padded(time.day, 2))"
      + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

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

  /// The days from the reference date to a day such as `2001-02-03`; nil if there is none.
  private static func days(_ text: Substring) -> Int64? {
    let isSigned = text.first == "-" || text.first == "+"
    let parts = text.dropFirst(isSigned ? 1 : 0).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, 4...(isSigned ? 6 : 4) ~= parts[0].utf8.count,
      parts.dropFirst().allSatisfy({ $0.utf8.count == 2 }), let year = Self.number(parts[0]),
      let month = Self.number(parts[1]), let day = Self.number(parts[2])
    else { return nil }
    return CivilTime.days(year: text.first == "-" ? -year : year, month: month, day: day)
  }

  private static func time(_ clock: Substring) -> Int64? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ $0.utf8.count == 2 }),
      zip(parts, [24, 60, 60]).allSatisfy({ number($0, below: $1) })
    else { return nil }
    return parts.compactMap { number($0) }.reduce(0) { $0 * 60 + $1 }
  }

  /// The seconds of `Z`, or of an offset such as `+02:00` or `+0200`.
  private static func offset(_ zone: Substring) -> Int64? {
    if zone == "Z" { return 0 }
    let offset = zone.dropFirst()
    let (hours, minutes) = (offset.prefix(2), offset.suffix(2))
    guard number(hours, below: 24), number(minutes, below: 60),
      offset == hours + minutes || offset == hours + ":" + minutes, let hour = number(hours),
      let minute = number(minutes)
    else { return nil }
    return (zone.first == "-" ? -1 : 1) * (hour * 3600 + minute * 60)
  }

  private static func number(_ digits: Substring) -> Int64? {
    digits.utf8.allSatisfy(isDigit) ? Int64(digits) : nil
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
