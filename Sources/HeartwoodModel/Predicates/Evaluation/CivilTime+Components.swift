/// Components of dates, as functions of conditions have them.
extension CivilTime {
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
}
