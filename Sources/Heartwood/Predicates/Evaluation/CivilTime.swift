/// A date and a time of day of the Gregorian calendar, which is extended to all times before it.
///
/// Computed from the seconds without a calendar of the system, so that it costs little for each row and is the same everywhere.
struct CivilTime {
  let year: Int64
  let month: Int64
  let day: Int64
  /// Counted from 1.
  let dayOfYear: Int64
  /// 1 is Sunday, as in Foundation's calendars.
  let weekday: Int64
  let secondOfDay: Int64

  private static let secondsOfDay: Int64 = 86_400
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

  func component(_ function: ConditionFunction) -> Int64 {
    switch function {
    case .year: year
    case .quarter: (month + 2) / 3
    case .month: month
    case .week: week
    case .day: day
    case .dayOfYear: dayOfYear
    case .weekday: weekday
    case .hour: secondOfDay / 3600
    case .minute: secondOfDay / 60 % 60
    default: secondOfDay % 60
    }
  }

  /// The week of ISO 8601: weeks begin on Monday, and the first one has the fourth of January.
  private var week: Int64 {
    let daysAfterMonday = Self.modulo(weekday - 2, 7)
    let number = (dayOfYear - 1 - daysAfterMonday + 10) / 7
    if number < 1 { return Self.weeks(of: year - 1) }
    return number > Self.weeks(of: year) ? 1 : number
  }

  /// A year has 53 weeks if it begins or ends on a Thursday.
  private static func weeks(of year: Int64) -> Int64 {
    func lastWeekday(_ year: Int64) -> Int64 {
      modulo(year + floor(year, 4) - floor(year, 100) + floor(year, 400), 7)
    }
    return lastWeekday(year) == 4 || lastWeekday(year - 1) == 3 ? 53 : 52
  }

  private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
    number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
  }

  private static func modulo(_ number: Int64, _ divisor: Int64) -> Int64 {
    number - floor(number, divisor) * divisor
  }
}
