/// A date and a time of day of the Gregorian calendar, which is extended to all times before it, as ISO 8601 says.
///
/// Computed from the seconds without a calendar of the system, so that it costs little for each row and is the same everywhere: Foundation's
/// has the Julian calendar before October 1582.
struct CivilTime {
  let year: Int64
  let month: Int64
  let day: Int64
  /// Counted from 1.
  let dayOfYear: Int64
  /// 1 is Sunday, as in Foundation's calendars.
  let weekday: Int64
  let secondOfDay: Int64

  static let secondsOfDay: Int64 = 86_400
  /// The days from the beginning of March of the year 0 to the reference date, the first of January 2001.
  private static let daysBefore: Int64 = 730_791

  /// - Parameter seconds: Since the reference date, in the time zone.
  init(seconds: Int64) {
    let days = Self.floor(seconds, Self.secondsOfDay)
    secondOfDay = seconds - days * Self.secondsOfDay
    // The reference date is a Monday.
    weekday = Self.modulo(days + 1, 7) + 1
    // Years that begin in March have the leap day at their end.
    let shifted = days + Self.daysBefore
    let era = Self.floor(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfMarchYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfMarchYear + 2) / 153
    day = dayOfMarchYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    dayOfYear =
      month <= 2 ? dayOfMarchYear - 305 : dayOfMarchYear + 60 + (Self.isLeap(year) ? 1 : 0)
  }

  /// The days from the reference date to a day; nil if there is no such day.
  static func days(year: Int64, month: Int64, day: Int64) -> Int64? {
    guard 1...12 ~= month, day >= 1, day <= days(ofMonth: month, year), year.magnitude < 1_000_000 else {
      return nil
    }
    let marchYear = month <= 2 ? year - 1 : year
    let era = floor(marchYear, 400)
    let yearOfEra = marchYear - era * 400
    let dayOfMarchYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfMarchYear - daysBefore
  }

  private static func days(ofMonth month: Int64, _ year: Int64) -> Int64 {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
    number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
  }

  static func modulo(_ number: Int64, _ divisor: Int64) -> Int64 {
    number - floor(number, divisor) * divisor
  }
}
