import CoreData
import Foundation

@objc(Stop)
public class Stop: NSManagedObject {
    private lazy var formatter = DateFormatter()

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(timeIntervalSinceReferenceDate: 0), forKey: #keyPath(Stop.arrival))
    }

    public var coordinate: (Double, Double) {
        get { (latitude, longitude) }
        set { (latitude, longitude) = newValue }
    }
}
