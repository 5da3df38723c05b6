import Heartwood
import Foundation
import Testing

@testable import HeartwoodCommand

@Suite struct DateTextTests {
  @Test(arguments: [
    "2023-02-29T12:00:00.123456Z", "2023-02-29", "1900-02-29", "2023-04-31T00:00:00Z", "2023-13-01",
    "2023-00-10",
    "2023-01-00", "2023-02-28T24:00:00Z", "2023-02-28T23:60:00Z", "2023-02-28T23:59:60Z",
    "2023-02-28 12:00:00Z",
    "2023-02-28T12:00:00", "2023-02-28T12:00:00Zx", "2023-02-28T12:00:00.Z", "2023-02-28T12:00:00.1x2Z",
    "2023-02-28T12:00:00+2", "2023-02-28T12:00:00+25:00",
    "2023-02-28T", "T12:00:00Z", "yesterday", "", "1500-02-29", "2023-2-28", "12023-02-28", "-001-02-28",
    "+023-02-28", "+1000000-01-01", "--001-02-28", "+-2023-02-28", "-02023", "+10000-1-01",
  ])
  func `a day or time that does not exist is no date`(text: String) throws {
    #expect(DateText.date(text) == nil)
    let place = JSONPlace(path: "objects[0].at", value: .string(text))
    #expect {
      try AttributeReading.value(of: place, as: .date)
    } throws: { "\($0)".contains("a date such as") }
  }

  @Test func `a date whose year has more than six digits is shown as seconds, and not as another day`() {
    for seconds in [1e300, -1e15, .infinity] {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(
        DateText.short(date) == "\(seconds) seconds after 2001" && DateText.text(date) == DateText.short(date)
      )
    }
  }

  @Test func `days of leap years, fractions and offsets are read`() {
    #expect(DateText.date("2024-02-29") == Date(timeIntervalSince1970: 1_709_164_800))
    #expect(DateText.date("2000-02-29T23:59:59Z") == Date(timeIntervalSince1970: 951_868_799))
    #expect(DateText.date("1970-01-01T02:00:01.5+02:00") == Date(timeIntervalSince1970: 1.5))
    #expect(DateText.date("1970-01-01T02:00:01.500+0200") == Date(timeIntervalSince1970: 1.5))
  }

  @Test func `dates before 1582 are of the Gregorian calendar, as ISO 8601 says`() {
    // 146,097 days are 400 years of it.
    #expect(
      DateText.date("1601-01-01")?.timeIntervalSinceReferenceDate == -146_097 * 86_400
        && DateText.date("0001-01-01")?.timeIntervalSinceReferenceDate == -5 * 146_097 * 86_400)
    #expect(DateText.date("1582-10-15") == DateText.date("1582-10-14").map { $0 + 86_400 })
    #expect(
      DateText.text(Date(timeIntervalSinceReferenceDate: -5 * 146_097 * 86_400)) == "0001-01-01T00:00:00Z")
    #expect(
      DateText.short(Date(timeIntervalSinceReferenceDate: -5 * 146_097 * 86_400 + 0.25))
        == "0001-01-01T00:00:00.250Z")
    #expect(DateText.short(Date(timeIntervalSinceReferenceDate: -1)) == "2000-12-31T23:59:59Z")
    for year in stride(from: 0, to: 10_000, by: 37) {
      for day in ["01-01", "02-28", "03-01", "12-31"] {
        let text = String(repeating: "0", count: 4 - "\(year)".count) + "\(year)-\(day)"
        #expect(DateText.date(text).map(DateText.text) == text + "T00:00:00Z")
      }
    }
  }

  @Test(arguments: [
    "2023-02-28T12:00:00.123456Z", "2023-02-28T12:00:00.500Z", "1999-12-31T23:59:59.123456Z",
    "2023-02-28T12:00:00Z",
    "2000-12-31T23:59:59.9999999999Z", "2001-01-01T00:00:00.00000000025Z", "1582-10-10T00:00:00Z",
    "1582-10-04T23:59:59Z", "0987-07-03T00:00:00.500Z", "0000-02-29T00:00:00Z", "4999-12-31T23:59:59Z",
    "5170-01-01T00:00:00Z", "9999-12-31T23:59:59.500Z", "+10000-01-01T00:00:00Z", "-0001-12-31T23:59:59Z",
    "+123456-02-28T12:00:00.500Z", "-32768-01-01T00:00:00Z",
  ])
  func `a date is written as it was read`(text: String) throws {
    #expect(DateText.text(try #require(DateText.date(text))) == text)
    #expect(CellValue.date(try #require(DateText.date(text))).json == .string(text))
  }

  @Test func `a time in nanoseconds is the date that was stored`() {
    for (seconds, text) in [
      (700_000_000.25, "2023-03-08T20:26:40.250Z"), (123_456_789.123, "2004-11-29T21:33:09.123Z"),
      (-978_307_200.5, "1969-12-31T23:59:59.500Z"), (0, "2001-01-01T00:00:00Z"),
    ] {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      let nanoseconds =
        Int64((seconds.rounded(.down) + 978_307_200) * 1e9)
        + Int64(((seconds - seconds.rounded(.down)) * 1e9).rounded())
      #expect(DateText.short(Date(nanosecondsSince1970: nanoseconds)) == text)
      #expect(DateText.short(date) == text)
    }
  }

  @Test func `a date of years with more than six digits is a number of seconds`() {
    for seconds in [4e13, -4e13, 1e20, .infinity, -0.0] {
      let value = CellValue.date(Date(timeIntervalSinceReferenceDate: seconds))
      #expect(DateText.exact(seconds) == nil && value.json == DateText.json(seconds))
      #expect(Double(value.plain.replacing("Infinity", with: "inf")) == seconds)
    }
  }

  @Test func `every date is written so that the same value is read`() {
    var seconds: [Double] = [
      0.1, -0.1, -1e-10, 1e-10, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 2.5e-7, 1e-5, -0.5,
      699_364_800.123456,
    ]
    var state: UInt64 = 1
    for _ in 0..<2000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      seconds.append((Double(state >> 11) / 9e15 - 0.5) * [1e10, 5e11, 5e13][Int(state % 3)])
    }
    for seconds in seconds {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(DateText.date(DateText.text(date)) == date, "\(seconds): \(DateText.text(date))")
    }
  }
}
