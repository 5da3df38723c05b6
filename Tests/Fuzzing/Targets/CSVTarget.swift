import Heartwood
import HeartwoodCommand

/// A CSV file that is imported, up to what would be written.
enum CSVTarget {
  static func finding(_ bytes: [UInt8]) -> String? {
    for separator in [UInt8(ascii: ","), UInt8(ascii: "\t")] {
      if let finding = importFinding(bytes, separator: separator) { return finding }
    }
    return nil
  }

  static var seeds: [[UInt8]] {
    [
      "name,population,area,founded,isOld,country.code\nParis,2102650,105.4,0987-01-01,true,FR\n\"Le \"\"Mans\"\"\",,,,,\n",
      "Name\tsince\r\n\"two\nlines\"\t2001-02-03T04:05:06Z\r\n", "@id,a,b\n1,{\"x\": [1]},\"\"\n",
    ].map { [UInt8]($0.utf8) }
  }
}
