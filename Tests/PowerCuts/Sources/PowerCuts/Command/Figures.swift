import Foundation

/// Prints a line at once, also where the output is a file.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// What was done on one file system, and what was found.
struct Figures {
  var cuts = 0
  var kills = 0
  var images = 0
  /// Full commits that had been acknowledged before the cut, summed over the images.
  var acknowledgements = 0
  /// Uncertain writes that were there whole, in part, and not at all.
  var (whole, torn, lost) = (0, 0, 0)
  /// Images whose file system could not be mounted.
  var unmountable = 0
  /// What is wrong with the engine.
  var findings: [String] = []

  mutating func add(_ other: Figures) {
    cuts += other.cuts
    kills += other.kills
    images += other.images
    acknowledgements += other.acknowledgements
    (whole, torn, lost) = (whole + other.whole, torn + other.torn, lost + other.lost)
    unmountable += other.unmountable
    findings += other.findings
  }
}

extension Figures: CustomStringConvertible {
  var description: String {
    "\(cuts) cuts, \(kills) of them kills; \(images) images with \(whole) uncertain writes whole, \(torn) torn, \(lost) lost; "
      + "\(acknowledgements) acknowledged commits looked for; \(unmountable) images not mountable; "
      + "\(findings.count) findings"
  }
}
